import { join } from 'node:path';
import type { z } from 'zod';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import { type FakeJob, startFakeAdminApi } from '../../test/helpers/admin-api/fake-admin-api.ts';
import { builtGalley } from '../../test/helpers/system/built-product.ts';
import { type Cleanups, createCleanups } from '../../test/helpers/system/cleanups.ts';
import { createPrograms } from '../../test/helpers/system/programs.ts';
import { startTemporalServer } from '../../test/helpers/system/temporal-server.ts';
import { waitFor } from '../../test/helpers/system/wait-for.ts';
import { workflowChain } from '../../test/helpers/system/workflow-chain.ts';
import { startOrchestrator } from '../orchestrator.ts';
import { runLoad } from '../run-load.ts';
import { temporaryFolder } from '../with-cleanups.ts';
import { deliveryId, stormResult } from './delivery-ids.ts';
import { watchMemory } from './memory.ts';

export type Storm = {
  sent: z.infer<typeof stormResult>;
  /** Acknowledged deliveries that are in no signal of the workflow. */
  missing: number;
  /** Deliveries that are in more than one signal: resends after a late rejection. */
  twice: number;
  exports: number;
  mostAtATime: number;
  lastExported: boolean;
  runs: readonly { events: number; signals: number }[];
  /** Samples in megabytes, by program. */
  memory: Record<string, number[]>;
};

const SITE = 'storm';
const DOMAIN = `${SITE}.example.com`;

/** Longer than a signal takes on a busy machine, so that an export starts after the last delivery. */
const EXPORT_SETTINGS = { quietPeriod: '3s', maxWait: '5s' };
const JOB_MS = 2_000;

export async function runStorm(
  options: { deliveries: number; inFlight: number },
  { progress }: { progress: (text: string) => void },
): Promise<Storm> {
  const cleanups = createCleanups();
  try {
    return await storm(options, progress, cleanups);
  } finally {
    await cleanups.run();
  }
}

async function storm(
  { deliveries, inFlight }: { deliveries: number; inFlight: number },
  progress: (text: string) => void,
  cleanups: Cleanups,
): Promise<Storm> {
  const galley = await builtGalley();
  const folder = await temporaryFolder(cleanups, 'galley-bench-');
  const temporal = await startTemporalServer(join(folder, 'temporal.db'));
  cleanups.add(temporal.stop);
  const adminApi = await startFakeAdminApi();
  Object.assign(adminApi.behaviour, { jobDurationMs: JOB_MS, oneAtATime: false });
  cleanups.add(adminApi.close);
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);
  const { api, worker } = await startOrchestrator({
    folder,
    programs,
    temporalAddress: temporal.address,
    sites: [SITE],
    exportSettings: EXPORT_SETTINGS,
    adminApi,
    worker: true,
  });

  const memory = watchMemory({ receiver: api.pid, worker: worker?.pid ?? 0 });
  const load = { origin: api.url, path: `/webhooks/${SITE}/standard`, deliveries, inFlight };
  const sent = await runLoad('storm-load', load, stormResult);
  const samples = await memory.stop();

  progress('waiting for the export of the last publish');
  const options = { describe: 'exported the last publish', timeoutMs: 120_000 };
  const hasBundleAfter = (atMs: number): boolean => adminApi.links(DOMAIN).some(({ job }) => job.startedAtMs > atMs);
  const lastExported = await waitFor(() => hasBundleAfter(sent.endedAtMs), options).catch(() => false);

  progress('counting deliveries in the histories');
  const runs = await workflowChain(temporal.client, WORKFLOW_IDS.exportSite(SITE));
  const signaled = runs.flatMap(({ signals }) => signals.flatMap((signal) => signal.deliveries.map(({ id }) => id)));
  const distinct = new Set(signaled);
  const indexes = Array.from({ length: sent.acknowledged }, (_, index) => index);
  return {
    sent,
    missing: indexes.filter((index) => !distinct.has(deliveryId(index))).length,
    twice: signaled.length - distinct.size,
    exports: adminApi.jobs.length,
    mostAtATime: mostAtATime(adminApi.jobs),
    lastExported,
    runs: runs.map(({ events, signals }) => ({ events, signals: signals.length })),
    memory: samples,
  };
}

function mostAtATime(jobs: readonly FakeJob[]): number {
  const runningAt = (atMs: number): number =>
    jobs.filter(({ startedAtMs }) => startedAtMs <= atMs && atMs < startedAtMs + JOB_MS).length;
  return Math.max(0, ...jobs.map(({ startedAtMs }) => runningAt(startedAtMs)));
}
