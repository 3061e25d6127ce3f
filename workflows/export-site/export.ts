import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import type { CancelOutcome } from '../../activities/admin-api/cancel-export.ts';
import type { Judgement } from '../../activities/admin-api/judge-export.ts';
import type { Activities } from '../../activities/create-activities.ts';
import { formatDurationMs } from '../../contract/duration.ts';
import { rereadSettings } from '../entity/configuration.ts';
import { waitAtMost } from '../entity/coroutines.ts';
import { readFailure } from '../failures/read-failure.ts';
import { adminApiCall, inPool, quickActivity } from '../retry/activity-timeouts.ts';
import { spreadRetryAfterMs } from '../retry/retry-after.ts';
import { backOffSummary } from '../retry/retry-until.ts';
import { inSpan } from '../tracing/span.ts';
import { backOffElapsed, failuresInARow } from './back-off.ts';
import { settingsSource } from './configuration.ts';
import { notifyPublished } from './notifications.ts';
import { olderJob, whyOlder } from './older-job.ts';
import type { SiteRun } from './run.ts';
import { exportDueAtMs, shouldReplace } from './schedule.ts';
import type { Exporting, Job } from './state.ts';
import {
  bundleCreated,
  cancelRefused,
  cancelRequested,
  exportedJob,
  holdForReview,
  jobFinished,
  jobStarted,
  olderJobReturned,
  recordExportFailure,
  releaseExport,
  replaceExport,
  setIdempotencyKey,
  takePending,
} from './transitions.ts';
import { reportStart, waitForStart } from './wait-for-start.ts';

const { createExportKey } = proxyActivities<Activities>({ ...quickActivity, ...inPool('admin-api') });

/** A canceled start is awaited, to know whether the service has created the job. */
const { startExport } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

const { pollExport, judgeExport } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** If the service doesn't respond in time, the export is awaited instead. */
const { cancelExport } = proxyActivities<Activities>({ ...adminApiCall, scheduleToCloseTimeout: '30s' });

/** A poll gets at least this much time, even after the timeout: the job may have ended meanwhile. */
const LAST_POLL_MS = 5_000;

/** Exports what is published, one export at a time, and hands each to the deployments, or to a person. */
export async function exportLoop(run: SiteRun): Promise<void> {
  // An export that was running before the pause continues, even in a new run.
  if (continuesInPause(run)) await continueExport(run);
  for (;;) {
    await condition(() => hasWork(run));
    if (!(await waitForBackOff(run))) continue;
    if (run.state.exporting === null) {
      await rereadSettings(settingsSource(run));
      if (!(await waitForBurst(run)) || !(await waitForStart(run, () => hasWork(run)))) continue;
      takePending(run.state, run.settings.domain, Date.now());
      notifyPublished(run);
    }
    await continueExport(run);
  }
}

function continuesInPause({ state }: SiteRun): boolean {
  return state.paused && state.exporting !== null && state.backOff?.waiting !== true;
}

function hasWork({ state, removed }: SiteRun): boolean {
  return !removed && !state.paused && (state.exporting !== null || state.pending !== null);
}

/** Returns false if the work has to be checked again. */
async function waitForBackOff(run: SiteRun): Promise<boolean> {
  const { backOff, exportError } = run.state;
  const waitMs = (backOff?.untilMs ?? 0) - Date.now();
  if (waitMs <= 0) return hasWork(run);
  await waitAtMost(() => run.state.backOff !== backOff || !hasWork(run), waitMs, backOffSummary(exportError?.message));
  return false;
}

/** Waits for the end of a burst of publishes. Returns false if there is nothing left to export. */
async function waitForBurst(run: SiteRun): Promise<boolean> {
  const isDebouncing = (): boolean => hasWork(run) && run.state.pending?.immediate === false;
  for (;;) {
    const { pending } = run.state;
    if (pending === null || !hasWork(run)) return false;
    const dueAtMs = exportDueAtMs(pending, run.settings);
    const waitMs = dueAtMs - Date.now();
    if (waitMs <= 0) return true;
    // One timer serves many publishes, because they only make the export later. New settings can make it earlier.
    const isDueSooner = (): boolean =>
      run.state.pending !== null && exportDueAtMs(run.state.pending, run.settings) < dueAtMs;
    await waitAtMost(() => !isDebouncing() || isDueSooner(), waitMs, 'quiet period after a publish');
  }
}

async function continueExport(run: SiteRun): Promise<void> {
  const { state } = run;
  const { exporting } = state;
  if (exporting === null) return;
  backOffElapsed(state);
  const scope = new CancellationScope();
  run.exportScope = scope;
  try {
    const { traces } = exporting.publishes;
    await inSpan({ name: 'export', traces }, () => scope.run(() => runExport(run, exporting)));
  } catch (error) {
    // A rollback dropped the export.
    if (state.exporting !== exporting) return;
    // The next run continues it.
    if (isCancellation(error)) throw error;
    const failure = readFailure(error);
    const retryAfterMs = spreadRetryAfterMs(failure, failuresInARow(state));
    const { stage } = exporting;
    recordExportFailure(state, exporting, failure, Date.now(), retryAfterMs);
    if (stage === 'starting' && failure.status === 429) await reportStart(run, 'limited');
    else if (stage === 'starting') await reportStart(run, 'started');
  } finally {
    run.exportScope = null;
  }
}

/** Start, poll, judge, bundle. The state records each step, so that a retry or a new run creates no second job. */
async function runExport(run: SiteRun, exporting: Exporting): Promise<void> {
  const { state } = run;
  if (exporting.stage === 'starting') await start(run, exporting);
  if (exporting.stage === 'polling' && (await poll(run, exporting)) === 'replaced') {
    if (state.exporting === exporting) replaceExport(state, exporting);
    return;
  }
  const { reasons, previewUrl } = await judge(run, exporting);
  // A held export gets its link when it is approved.
  if (reasons.length === 0) await bundle(run, exporting);
  // A rollback at the same moment wins.
  if (state.exporting !== exporting) return;
  const job = { ...exportedJob(exporting), ...(previewUrl != null && { previewUrl }) };
  if (reasons.length > 0) holdForReview(state, job, reasons);
  else releaseExport(state, job);
  run.changes++;
}

/** Why a person has to look at the export; empty if nobody has to. The first one of a site can't be compared. */
async function judge(run: SiteRun, exporting: Exporting): Promise<Judgement> {
  const { guards, domain } = run.settings;
  const jobId = jobOf(exporting);
  const served = servedJob(run.state);
  if (guards === undefined || served === null || served.jobId === jobId) return { reasons: [] };
  const summary = `compare ${jobId} with ${served.version ?? served.jobId}, which is served`;
  const { projectId } = run.settings;
  const wantsPreview = run.state.deployments.some(({ approve }) => approve);
  const input = { jobId, projectId, domain, servedJobId: served.jobId, guards, wantsPreview };
  const judged = await judgeExport.executeWithOptions(timeLimit(run, exporting, summary), [input]);
  run.state.guardsNotChecked = judged.notChecked ?? [];
  return judged;
}

/** The newest job that a deployment has; without deployments, the newest one. */
function servedJob({ jobs, deployments, newest }: SiteRun['state']): Job | null {
  const having = deployments.length === 0 ? [newest] : deployments.map(({ lastGood }) => lastGood);
  return jobs.filter(({ jobId }) => having.includes(jobId)).toSorted((a, b) => b.upTo - a.upTo)[0] ?? null;
}

async function start(run: SiteRun, exporting: Exporting): Promise<void> {
  // The site's timeout also limits how long a busy service is retried.
  const options = timeLimit(run, exporting, `start export of ${exporting.domain}`);
  const { domain } = exporting;
  const { projectId, basePath } = run.settings;
  if (exporting.idempotencyKey === null) setIdempotencyKey(exporting, await createKey(domain));
  const idempotencyKey = exporting.idempotencyKey ?? '';
  const job = await startExport.executeWithOptions(options, [{ domain, idempotencyKey, projectId, basePath }]);
  const why = whyOlder(run.state, job);
  if (why !== null) {
    olderJobReturned(run.state, job.jobId);
    throw olderJob(why);
  }
  jobStarted(run.state, exporting, job);
  for (let lost = 0; lost < (job.lostStarts ?? 0); lost++) await reportStart(run, 'lost');
  await reportStart(run, 'started');
}

/** An activity creates it, because a reset or a restored database repeats the workflow's ids and random numbers. */
async function createKey(domain: string): Promise<string> {
  return await createExportKey.executeWithOptions({ summary: `key for an export of ${domain}`.slice(0, 200) }, []);
}

async function poll(run: SiteRun, exporting: Exporting): Promise<'finished' | 'replaced'> {
  const jobId = jobOf(exporting);
  const scope = new CancellationScope();
  try {
    const finished = await scope.run(() => {
      const polling = pollExport.executeWithOptions(timeLimit(run, exporting, `wait for ${jobId}`), [
        { jobId, projectId: run.settings.projectId },
      ]);
      return Promise.race([polling, replacement(run, exporting, jobId)]);
    });
    if (finished === 'replaced' || (finished.status === 'failed' && exporting.cancelling)) return 'replaced';
    if (finished.status === 'failed') throw jobFailed(`${jobId} failed: ${finished.error}`);
    jobFinished(run.state, exporting, finished);
    return 'finished';
  } catch (error) {
    if (!isCancellation(error) && readFailure(error).type === 'TimedOut') await giveUp(run, jobId);
    throw error;
  } finally {
    scope.cancel();
  }
}

/** Resolves once a newer publish has canceled the job. Never, if the service can't cancel. */
async function replacement(run: SiteRun, exporting: Exporting, jobId: string): Promise<'replaced'> {
  for (;;) {
    await condition(
      () => !exporting.uncancellable && shouldReplace(exporting.publishes, run.state.pending, run.settings, Date.now()),
    );
    cancelRequested(exporting);
    if ((await cancelExportJob(run, jobId, 'a newer publish replaces it')) === 'accepted') return 'replaced';
    cancelRefused(exporting);
  }
}

/** Shows that the job has a bundle. The deployments use this link. */
async function bundle(run: SiteRun, exporting: Exporting): Promise<void> {
  const link = await run.links.fresh(jobOf(exporting), 0, 'export');
  bundleCreated(run.state, exporting, link);
}

async function giveUp(run: SiteRun, jobId: string): Promise<never> {
  await cancelExportJob(run, jobId, 'it took too long');
  throw jobFailed(`${jobId} didn't end within ${formatDurationMs(run.settings.timeoutMs)} and was given up`);
}

/** Cancels a job at the service. A failure counts as unsupported. */
export async function cancelExportJob(
  { settings: { projectId } }: Pick<SiteRun, 'settings'>,
  jobId: string,
  reason: string,
): Promise<CancelOutcome> {
  try {
    return await cancelExport.executeWithOptions({ summary: `cancel ${jobId}: ${reason}` }, [{ jobId, projectId }]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    readFailure(error);
    return 'unsupported';
  }
}

/** What is left of the site's `timeout`. */
function timeLimit({ settings }: SiteRun, { startedAtMs }: Exporting, summary: string) {
  const leftMs = startedAtMs + settings.timeoutMs - Date.now();
  return { scheduleToCloseTimeout: Math.max(leftMs, LAST_POLL_MS), summary: summary.slice(0, 200) };
}

function jobFailed(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'JobFailed', message, nonRetryable: true });
}

function jobOf(exporting: Exporting): string {
  if (exporting.jobId === null) throw new Error(`an export at "${exporting.stage}" has no job`);
  return exporting.jobId;
}
