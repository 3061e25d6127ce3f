import { startDevServer } from '../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { builtGalley } from '../../test/helpers/system/built-product.ts';
import { type Cleanups, createCleanups } from '../../test/helpers/system/cleanups.ts';
import { createPrograms } from '../../test/helpers/system/programs.ts';
import { type LoopOptions, type Measurement, measurement } from '../load/closed-loop.ts';
import { startOrchestrator } from '../orchestrator.ts';
import { runLoad } from '../run-load.ts';
import { temporaryFolder } from '../with-cleanups.ts';
import { startPlainExpress } from './plain-express.ts';

export type Round = Record<'rawOne' | 'rawMany' | 'receiverOne' | 'receiverMany' | 'express', Measurement>;

export type RoundsOptions = LoopOptions & { rounds: number; worker: boolean };

const SITES = 20;

/** Temporal rejects the 10,001st signal of one execution. */
const SIGNALS_PER_WORKFLOW = 9_000;

/** No export runs meanwhile: the bench measures only receiving. */
const NO_EXPORT = { quietPeriod: '1h', maxWait: '1h' };

/** Measures every case once per round, so that the machine's load affects all alike. */
export async function measureRounds(
  options: RoundsOptions,
  { progress }: { progress: (text: string) => void },
): Promise<Round[]> {
  const cleanups = createCleanups();
  try {
    return await measure(options, progress, cleanups);
  } finally {
    await cleanups.run();
  }
}

async function measure(options: RoundsOptions, progress: (text: string) => void, cleanups: Cleanups): Promise<Round[]> {
  const { rounds, worker, ...loop } = options;
  const galley = await builtGalley();
  const folder = await temporaryFolder(cleanups, 'galley-bench-');
  const temporal = await startDevServer({ executable: await locateDevServer() });
  cleanups.add(temporal.stop);
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);
  const numbers = Array.from({ length: rounds }, (_, index) => index + 1);
  const { api } = await startOrchestrator({
    folder,
    programs,
    temporalAddress: temporal.address,
    sites: numbers.flatMap((number) => [...sitesOf(number, 'raw'), ...sitesOf(number, 'site')]),
    exportSettings: NO_EXPORT,
    adminApi: { url: 'http://127.0.0.1:1', key: 'galley_unused' },
    worker,
  });
  const express = await startPlainExpress();
  cleanups.add(express.stop);

  const raw = (round: number, count: number): Promise<Measurement> => {
    // A worker lets workflows continue as new, so they never reach the limit.
    const signalsPerWorkflow = worker ? Number.MAX_SAFE_INTEGER : SIGNALS_PER_WORKFLOW;
    const sites = pick(sitesOf(round, 'raw'), count);
    return runLoad('raw-load', { ...loop, address: temporal.address, sites, signalsPerWorkflow }, measurement);
  };
  const http = (origin: string, round: number, count: number): Promise<Measurement> => {
    const paths = pick(sitesOf(round, 'site'), count).map((site) => `/webhooks/${site}/standard`);
    return runLoad('http-load', { ...loop, origin, paths }, measurement);
  };

  const measured: Round[] = [];
  for (const round of numbers) {
    const step = async (name: string, result: Promise<Measurement>): Promise<Measurement> => {
      const { perSecond } = await result;
      progress(`round ${round} of ${rounds}: ${name}: ${perSecond.toFixed(0)} per second`);
      return await result;
    };
    measured.push({
      receiverOne: await step('receiver, one site', http(api.url, round, 1)),
      rawOne: await step('signalWithStart, one workflow', raw(round, 1)),
      express: await step('Express that only responds', http(express.url, round, 1)),
      receiverMany: await step('receiver, 20 sites', http(api.url, round, SITES)),
      rawMany: await step('signalWithStart, 20 workflows', raw(round, SITES)),
    });
  }
  return measured;
}

/** Each round and case has new workflows, so that they start empty. */
function sitesOf(round: number, kind: 'raw' | 'site'): string[] {
  return Array.from({ length: SITES + 1 }, (_, index) => `${kind}-${round}-${index}`);
}

function pick(sites: readonly string[], count: number): readonly string[] {
  return count === 1 ? sites.slice(0, 1) : sites.slice(1);
}
