import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { BundleLink } from '../../activities/admin-api/create-bundle.ts';
import type { Activities } from '../../activities/create-activities.ts';
import { deploymentPool } from '../../contract/pools.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import { failureReason, readFailure } from '../failures/read-failure.ts';
import { adminApiCall, inPool, inPoolOf, quickActivity, retryPolicy } from '../retry/activity-timeouts.ts';
import { inSpan } from '../tracing/span.ts';
import {
  applyReport,
  beginWrite,
  nextFence,
  pinSearched,
  takeOver,
  writeFailed,
  writeInterrupted,
} from './deployments.ts';
import { desiredVersion } from './desired-version.ts';
import { jobWritten } from './histories.ts';
import { isLost, rememberJob, replaceJob } from './jobs.ts';
import type { WriteStep } from './next-steps.ts';
import type { Lane, SiteRun } from './run.ts';
import { inSlot } from './slots.ts';
import type { Job, MutableDeployment } from './state.ts';
import { requestExport } from './transitions.ts';

/** The first of a deployment's two lanes: writing, and finding the job of a pin. Nothing here throws but cancellations. */

/**
 * A write takes milliseconds, or about 5 s if the lock of a killed worker has to expire first. After 8 s the failure is
 * shown in the state, and the write is repeated.
 */
const { writeDeployment } = proxyActivities<Activities>({
  startToCloseTimeout: '7s',
  heartbeatTimeout: '5s',
  scheduleToCloseTimeout: '8s',
  retry: { ...retryPolicy, maximumInterval: '5s' },
});

/** For kinds that take longer. After three failures the state shows why, and the write is repeated with a fresh link. */
const longWriteOptions = {
  scheduleToStartTimeout: '50s',
  heartbeatTimeout: '10s',
  retry: { ...retryPolicy, maximumAttempts: 3 },
  // The next write to the same place begins when this one has ended.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;

const { findOwner } = proxyActivities<Activities>({
  ...quickActivity,
  ...inPool('settings'),
  scheduleToCloseTimeout: '30s',
});

const { findExport } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** The delay after a failed search for the job of a pin. */
const PIN_SEARCH_INTERVAL_MS = 60_000;

/** Another site's file is taken over once this share of its link's life is over: the link is the lease. */
const LEASE_SHARE = 0.9;

type Write = Extract<WriteStep, { job: Job }>;

/** Writes a job, or a new link of it, to one deployment. The state has the outcome. */
export async function writeJob(run: SiteRun, deployment: MutableDeployment, step: Write, lane: Lane): Promise<void> {
  const { job } = step;
  const link = await linkFor(run, deployment, step);
  if (link === null) return;
  await inSlot(run, deploymentPool(deployment.kind), async () => {
    const desired = desiredVersion(run.state, deployment);
    const isDesired = desired.job?.jobId === job.jobId;
    const keepsLink = step.do === 'refresh' && deployment.written?.jobId === job.jobId;
    // Something newer was decided while the link or the slot was awaited.
    if (run.draining || !(isDesired || keepsLink)) return;
    lane.stage = 'writing';
    if (isDesired) beginWrite(deployment, job);
    try {
      // Later writes of the job belong to no publish.
      const isFirst = step.do === 'deploy' && run.state.newest === job.jobId;
      const traces = isFirst && job.trace !== undefined ? [job.trace] : [];
      await inSpan({ name: 'deploy', traces }, () => write(run, deployment, { ...step, link }));
    } catch (error) {
      if (isCancellation(error)) {
        writeInterrupted(deployment, job);
        throw error;
      }
      writeFailed(deployment, job, whyFailed(error, deployment), Date.now());
    }
  });
}

/** Null if there is none: the state says why. */
async function linkFor(run: SiteRun, deployment: MutableDeployment, step: Write): Promise<BundleLink | null> {
  const { jobId } = step.job;
  try {
    return await run.links.fresh(jobId, step.linkNewerThanMs, step.do);
  } catch (error) {
    if (isCancellation(error)) throw error;
    readFailure(error);
    if (isLost(run.state, deployment, jobId)) requestExportInsteadOf(run, jobId, { lostBundle: true });
    return null;
  }
}

/** Once per job. */
function requestExportInsteadOf({ state }: SiteRun, jobId: string, request: { lostBundle: boolean }): void {
  if (state.newest !== jobId || !replaceJob(state, jobId)) return;
  requestExport(state, Date.now(), { by: null, ...request });
}

async function write(run: SiteRun, deployment: MutableDeployment, step: Write & { link: BundleLink }): Promise<void> {
  const { job, link } = step;
  const { reason } = desiredVersion(run.state, deployment);
  const { place, kind } = deployment;
  const { bundleUrl, integrity, expiresAt, lifetimeMs, obtainedAtMs } = link;
  const version = link.version ?? job.version;
  const doing =
    deployment.written?.jobId === job.jobId || deployment.proposed?.jobId === job.jobId ? 'refresh' : 'deploy';
  const input = {
    valuesFile: place,
    ...(!isLocalFile(deployment) && { targetKind: kind }),
    site: run.site,
    ...nextFence(deployment),
    kind: doing,
    jobId: job.jobId,
    version,
    bundleUrl,
    ...(deployment.integrity !== false && integrity !== undefined && { integrity }),
    expiresAt,
    lifetimeMs,
    createdAt: job.createdAt,
    // A pin's job is written only while the pin names it. Any other but the newest may be older than what is there: an
    // operator or Galley went back to it, or it is kept while a newer one waits.
    newest: reason !== 'pinned',
    rolledBack: reason !== 'newest' && reason !== 'pinned',
    ...(doing === 'refresh' && { deployedLinkExpiresAt: deployment.written?.link?.expiresAt ?? undefined }),
    deployedBefore: deployment.written !== null || deployment.lastGood !== null || deployment.off,
  } as const;
  const summary = `${doing} ${version ?? job.jobId} to ${deployment.name} (${reason})`.slice(0, 200);
  const startedMs = Date.now();
  const report = await writeDeployment.executeWithOptions({ summary, ...optionsOf(deployment) }, [input]);
  const nowMs = Date.now();
  const held = { expiresAt, lifetimeMs, obtainedAtMs };
  if (report.outcome === 'foreign') return await claim(run, deployment, job, report.owner);
  const isThere = applyReport(deployment, report, { job, version, link: held, tookMs: nowMs - startedMs, nowMs });
  if (isThere) jobWritten(run.state.histories, job.jobId);
  if (report.outcome !== 'older') return;
  // Another chain of runs exported something newer: only a new export can be the newest again.
  run.state.olderJobId = job.jobId;
  requestExportInsteadOf(run, job.jobId, { lostBundle: false });
}

type FileOwner = { site: string; epoch: number; sequence: number; expiresAt: string; lifetimeMs: number };

/** Another site has written the file. It may move here if that site is gone, doesn't list it, or let its link run out. */
async function claim(run: SiteRun, deployment: MutableDeployment, job: Job, owner: FileOwner | null): Promise<void> {
  if (owner === null) return writeFailed(deployment, job, 'another site writes it', Date.now());
  const { place, name } = deployment;
  const summary = `whether ${name} may move here from ${owner.site}`.slice(0, 200);
  const { verdict } = await findOwner.executeWithOptions({ summary }, [
    { site: owner.site, valuesFile: place, forSite: run.site },
  ]);
  const leaseEndsMs = Date.parse(owner.expiresAt) - owner.lifetimeMs * (1 - LEASE_SHARE);
  if (verdict === 'gone' || verdict === 'released' || (verdict === 'unknown' && Date.now() >= leaseEndsMs)) {
    return takeOver(deployment, owner);
  }
  const { site } = run;
  const why =
    verdict === 'listed'
      ? `the site ${owner.site} writes it too: list it in one of them`
      : `the site ${owner.site} wrote it and still runs. If it was renamed: galley sites rename ${owner.site} ${site}. ` +
        `If it is over: galley sites remove ${owner.site}`;
  writeFailed(deployment, job, why, Date.now());
}

/** Any worker has it on its disk and needs no configuration to write it. */
export function isLocalFile({ kind, host }: Pick<MutableDeployment, 'kind' | 'host'>): boolean {
  return kind === 'valuesFile' && host === null;
}

export function isLong({ state }: SiteRun, place: string): boolean {
  const deployment = state.deployments.find((each) => each.place === place);
  return deployment === undefined || TARGETS[deployment.kind].longWrite !== null;
}

function optionsOf({ kind, host }: MutableDeployment): ActivityOptions {
  const { longWrite } = TARGETS[kind];
  return { ...(longWrite !== null && { ...longWriteOptions, ...longWrite }), ...inPoolOf({ kind, host }) };
}

function whyFailed(error: unknown, { kind, host }: MutableDeployment): string {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const neverStarted = cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
  if (host !== null && (neverStarted || kind === 'valuesFile')) {
    return failureReason(error, `no worker serves the host ${host}: start one there with --deployment-host ${host}`);
  }
  if (kind === 'valuesFile') return failureReason(error, 'no answer from its file system, or no worker to write it');
  const late = neverStarted ? 'no worker was free to write it' : 'it took too long, or its worker was lost';
  return failureReason(error, late);
}

/** Searches the service for the job of a pinned version. */
export async function findPinnedJob(run: SiteRun, deployment: MutableDeployment, version: string): Promise<void> {
  const { domain, projectId } = run.settings;
  const options = {
    scheduleToCloseTimeout: '1m',
    summary: `job of the pinned version ${version}`.slice(0, 200),
  } as const;
  try {
    const { jobId, versions } = await findExport.executeWithOptions(options, [{ domain, projectId, version }]);
    if (jobId !== null) {
      const unknown = { createdAt: null, exportedAt: null, oldestPublishMs: null };
      rememberJob(run.state, { jobId, version, domain, upTo: 0, ...unknown });
    }
    pinSearched(deployment, version, { againAtMs: null, versions });
  } catch (error) {
    if (isCancellation(error)) throw error;
    readFailure(error);
    pinSearched(deployment, version, { againAtMs: Date.now() + PIN_SEARCH_INTERVAL_MS, versions: [] });
  }
}
