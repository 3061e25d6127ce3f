import { randomUUID } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { SIGNALS, TASK_QUEUES, UPDATES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import { type RunningAdminApi, startFakeAdminApi } from '../../test/helpers/admin-api/fake-admin-api.ts';
import { builtGalley } from '../../test/helpers/system/built-product.ts';
import { createPrograms, type Programs } from '../../test/helpers/system/programs.ts';
import { startTemporalServer } from '../../test/helpers/system/temporal-server.ts';
import { waitFor } from '../../test/helpers/system/wait-for.ts';
import { guardedProgram, resetPeak, residentMb, usageOf } from '../export/process-usage.ts';
import { oneDelivery } from '../load/one-delivery.ts';
import { configureOrchestrator, valuesFileOf } from '../orchestrator.ts';
import { type Lifetime, temporaryFolder, withCleanups } from '../with-cleanups.ts';
import { deployedSite } from './deployed-site.ts';
import { forEach } from './for-each.ts';
import { domainOf, siteLinks } from './site-links.ts';
import { type Growth, growth, type SiteSample, sampleSite } from './site-sample.ts';

export type SitesOptions = {
  sites: number;
  /** Lifetime of the links whose refreshes are measured. The default is long enough for this machine. */
  linkSeconds?: number | undefined;
  /** How many of the sites are exported and refreshed. The others start with a deployed export and a link of 24 h. */
  refreshed: number;
  /** How long sites with long links are watched. */
  idleSeconds: number;
};

/** Memory is the worker's resident memory in megabytes. Seconds after a restart count from the worker's start. */
export type SitesFigures = {
  sites: number;
  starting: { seconds: number; peakMb: number };
  /** All sites are live and none has anything to do. */
  idle: Growth & { residentMb: number };
  /** `ended`: links that expired before they were refreshed. */
  refreshing: Growth & { sites: number; linkSeconds: number; peakMb: number; ended: number };
  restart: { readySeconds: number; firstSeconds: number; allSeconds: number; peakMb: number };
};

type Bench = SitesOptions & {
  names: readonly string[];
  folder: string;
  client: Client;
  adminApi: RunningAdminApi;
  progress: (text: string) => void;
  programs: Programs;
};

const WORKER = 'worker';
const DAY_MS = 86_400_000;

/** Concurrent requests: enough to keep the worker busy without flooding Temporal. */
const CONCURRENCY = 20;

/** Link lifetime relative to the duration of the exports. A refresh costs less than an export, so this suffices. */
const LINK_PER_EXPORT_TIME = 1.5;
const SHORTEST_DEFAULT_LINK_SECONDS = 60;

/** Stops only a bench that hangs. */
const STEP_TIMEOUT_MS = 4 * 3_600_000;

/** Runs the sites on one worker and measures their cost. */
export async function runSites(
  options: SitesOptions,
  { progress }: { progress: (text: string) => void },
): Promise<SitesFigures> {
  return await withCleanups((lifetime) => measure(options, progress, lifetime));
}

async function measure(
  options: SitesOptions,
  progress: (text: string) => void,
  lifetime: Lifetime,
): Promise<SitesFigures> {
  const galley = await builtGalley();
  const folder = await temporaryFolder(lifetime, 'galley-bench-');
  const temporal = await startTemporalServer(join(folder, 'temporal.db'));
  lifetime.add(temporal.stop);
  const adminApi = await startFakeAdminApi();
  lifetime.add(adminApi.close);
  const programs = createPrograms(galley);
  lifetime.add(programs.stop);
  const names = Array.from({ length: options.sites }, (_, index) => `site-${index}`);
  const variables = await configureOrchestrator({
    folder,
    temporalAddress: temporal.address,
    sites: names,
    exportSettings: { quietPeriod: '1s', maxWait: '1s' },
    adminApi,
    // A disabled file would cause an extra signal to its site after the first deploy.
    values: 'staticExport:\n  enabled: true\n',
  });
  const bench: Bench = { ...options, names, folder, client: temporal.client, adminApi, progress, programs };

  const start = { name: WORKER, args: ['worker'], variables: { ...variables, GALLEY_HOME: join(folder, WORKER) } };
  const { pid } = await programs.start({ ...start, variables: { ...start.variables, MIN_REFRESH_INTERVAL: '1s' } });
  const workerPid = await guardedProgram(pid);
  const some = { ...bench, names: names.slice(0, options.refreshed) };
  const starting = await startSites(bench, some, workerPid);
  const idle = await watchIdle(bench, workerPid);
  const defaultLinkSeconds = Math.max(
    Math.ceil(starting.seconds * LINK_PER_EXPORT_TIME),
    SHORTEST_DEFAULT_LINK_SECONDS,
  );
  const refreshing = await watchRefreshes(some, workerPid, options.linkSeconds ?? defaultLinkSeconds);
  await programs.end(WORKER);
  await untilAllOverdue(some);
  const restart = await restartWorker(some, () => programs.restart(WORKER));
  return { sites: options.sites, starting, idle, refreshing, restart };
}

/** Starts all sites with links that last a day and waits until the published ones are deployed. */
async function startSites(bench: Bench, published: Bench, pid: number): Promise<SitesFigures['starting']> {
  const { folder, client, adminApi } = bench;
  adminApi.behaviour.linkLifetimeMs = DAY_MS;
  const taskQueue = TASK_QUEUES.orchestrator;
  await forEach(bench.names.slice(published.names.length), CONCURRENCY, async (site) => {
    const link = await adminApi.addDeployed(domainOf(site));
    const valuesFile = valuesFileOf(folder, site);
    await writeFile(valuesFile, `staticExport:\n  enabled: true\n  bundleUrl: ${link.url}\n`);
    const args = [deployedSite(site, valuesFile, link)];
    await client.workflow.start(WORKFLOW_TYPES.exportSite, {
      ...{ taskQueue, workflowId: WORKFLOW_IDS.exportSite(site), args },
    });
  });
  await sampleAll(bench.names.slice(published.names.length), bench);
  bench.progress(`${bench.names.length - published.names.length} deployed sites wait for their next link refresh`);
  const startedAtMs = Date.now();
  await forEach(published.names, CONCURRENCY, (site) =>
    client.workflow.signalWithStart(WORKFLOW_TYPES.exportSite, {
      ...{ taskQueue, workflowId: WORKFLOW_IDS.exportSite(site), args: [{ site }] },
      ...{ signal: SIGNALS.published, signalArgs: [oneDelivery(randomUUID(), 0)] },
    }),
  );
  await untilAll(published, 'sites are exported', (site) => siteLinks(adminApi, site).count > 0);
  const writtenAtMs = await untilWritten(published);
  return { seconds: (Math.max(...writtenAtMs) - startedAtMs) / 1_000, peakMb: await peakMb(pid) };
}

async function watchIdle(bench: Bench, pid: number): Promise<SitesFigures['idle']> {
  const before = await sampleAll(bench.names, bench);
  bench.progress(`all sites are live and idle; watching them for ${bench.idleSeconds} s`);
  await sleep(bench.idleSeconds * 1_000);
  return { ...growth(before, await sampleAll(bench.names, bench)), residentMb: await residentMb(pid) };
}

/** Gives these sites short links and waits until each site's timer has refreshed its link. */
async function watchRefreshes(bench: Bench, pid: number, linkSeconds: number): Promise<SitesFigures['refreshing']> {
  const { names, client, adminApi, progress } = bench;
  progress(`giving ${names.length} sites links of ${linkSeconds} s`);
  adminApi.behaviour.linkLifetimeMs = linkSeconds * 1_000;
  await resetPeak(pid);
  await forEach(names, CONCURRENCY, (site) =>
    client.workflow.getHandle(WORKFLOW_IDS.exportSite(site)).executeUpdate(UPDATES.refreshNow),
  );
  const before = await sampleAll(names, bench);
  const linksBefore = new Map(names.map((site, index) => [site, before[index]?.links ?? 0]));
  const endedBefore = endedLinks(bench);
  await untilAll(
    bench,
    'links are refreshed',
    (site) => siteLinks(adminApi, site).count > (linksBefore.get(site) ?? 0),
  );
  const grown = growth(before, await sampleAll(names, bench));
  return {
    ...grown,
    sites: names.length,
    linkSeconds,
    peakMb: await peakMb(pid),
    ended: endedLinks(bench) - endedBefore,
  };
}

/** Meanwhile the workflows' timers fire, with no worker to handle them. */
async function untilAllOverdue({ names, adminApi, progress }: Bench): Promise<void> {
  const lastEndMs = Math.max(...names.map((site) => siteLinks(adminApi, site).expiresAtMs));
  const waitMs = Math.max(lastEndMs - Date.now(), 0);
  progress(`the worker is stopped; all short links are overdue in ${Math.ceil(waitMs / 1_000)} s`);
  await sleep(waitMs);
}

async function restartWorker(bench: Bench, start: () => Promise<{ pid: number }>): Promise<SitesFigures['restart']> {
  const { names, adminApi } = bench;
  const linksBefore = new Map(names.map((site) => [site, siteLinks(adminApi, site).count]));
  adminApi.behaviour.linkLifetimeMs = DAY_MS;
  const startedAtMs = Date.now();
  const worker = await start();
  const readySeconds = (Date.now() - startedAtMs) / 1_000;
  await untilAll(
    bench,
    'overdue links are refreshed',
    (site) => siteLinks(adminApi, site).count > (linksBefore.get(site) ?? 0),
  );
  const writtenAtMs = await untilWritten(bench);
  const secondsTo = (atMs: number): number => (atMs - startedAtMs) / 1_000;
  return {
    readySeconds,
    firstSeconds: secondsTo(Math.min(...writtenAtMs)),
    allSeconds: secondsTo(Math.max(...writtenAtMs)),
    peakMb: await peakMb(await guardedProgram(worker.pid)),
  };
}

async function sampleAll(
  names: readonly string[],
  { client, adminApi }: Pick<Bench, 'client' | 'adminApi'>,
): Promise<SiteSample[]> {
  return await forEach(names, CONCURRENCY, (site) => sampleSite(client, adminApi, site));
}

/** Waits until each values file names the newest link of its site. Returns when each was written (ms since 1970). */
async function untilWritten({ names, folder, adminApi }: Bench): Promise<number[]> {
  return await forEach(names, CONCURRENCY, async (site) => {
    const path = valuesFileOf(folder, site);
    const isWritten = async (): Promise<boolean> =>
      (await readFile(path, 'utf8')).includes(siteLinks(adminApi, site).url);
    await waitFor(isWritten, { describe: `wrote the newest link of ${site}`, timeoutMs: STEP_TIMEOUT_MS });
    return (await stat(path)).mtimeMs;
  });
}

/** @throws Error if the worker exits first. */
async function untilAll(
  { names, progress, programs }: Bench,
  what: string,
  holds: (site: string) => boolean,
): Promise<void> {
  let reportedTenths = 0;
  const all = (): boolean => {
    const count = names.filter(holds).length;
    const tenths = Math.floor((count * 10) / names.length);
    if (tenths > reportedTenths) progress(`${count} of ${names.length} ${what}`);
    reportedTenths = tenths;
    return count === names.length;
  };
  const ended = (): boolean => !programs.get(WORKER).running();
  await waitFor(() => all() || ended(), { describe: `reached that all ${what}`, timeoutMs: STEP_TIMEOUT_MS });
  if (!all()) throw new Error(`The worker exited before all ${what}:\n${programs.lastWords()}`);
}

function endedLinks({ names, adminApi }: Bench): number {
  return names.reduce((sum, site) => sum + siteLinks(adminApi, site).endedBefore, 0);
}

async function peakMb(pid: number): Promise<number> {
  return (await usageOf(pid))?.peakMb ?? Number.NaN;
}
