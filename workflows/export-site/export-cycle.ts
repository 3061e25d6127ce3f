import {
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  patched,
  workflowInfo,
} from '@temporalio/workflow';
import type { CancelOutcome } from '../../activities/admin-api/cancel-export.ts';
import type { BundleLink } from '../../activities/admin-api/create-bundle.ts';
import type { FinishedExport } from '../../activities/admin-api/poll-export.ts';
import { formatDurationMs } from '../../contract/duration.ts';
import { readFailure } from '../trouble/failures.ts';
import { cancelExport, createBundle, createExportKey, pollExport, startExport } from './activity-proxies.ts';
import { shouldReplace } from './debounce.ts';
import { deploy } from './deploy.ts';
import { rememberLink, setLive } from './live-job.ts';
import { comparableTime, olderJob, whyOlder } from './older-job.ts';
import type { Exporting } from './site-memory.ts';
import type { SiteRun } from './site-run.ts';

/** One question at least is asked about a job, however long ago it was started: it may have ended meanwhile. */
const LAST_QUESTION_MS = 5_000;

type Outcome = 'deployed' | 'replaced';

/**
 * Takes an export from wherever it stands to its deployment: start, poll, bundle, deploy. Each step's result is noted
 * before the next one, so that it goes on in another run, or after trouble, without a second job.
 */
export async function runExport(run: SiteRun, exporting: Exporting, scope: CancellationScope): Promise<Outcome> {
  const link = await scope.run(async () => {
    if (exporting.stage === 'starting') await start(run, exporting);
    if (exporting.stage === 'polling' && (await poll(run, exporting)) === 'replaced') return 'replaced' as const;
    return bundle(run, exporting);
  });
  const { memory } = run;
  // A rollback that came in the same moment has the last word.
  if (link === 'replaced' || memory.exporting !== exporting) return 'replaced';

  const { version, createdAt } = exporting;
  const exportedAt = exporting.exportedAt ?? new Date().toISOString();
  const jobId = jobOf(exporting);
  const { live, newest } = memory;
  exporting.stage = 'deploying';
  memory.newest = { jobId, version, exportedAt, createdAt };
  setLive(run, memory.newest, false);
  rememberLink(memory, jobId, link);
  const refusedBy = await deploy(run, { jobId, version, bundleUrl: link.bundleUrl, reason: 'new export' });
  if (refusedBy === null || memory.exporting !== exporting) return 'deployed';
  // This workflow was reset, or restored: the deployment knows of a newer export than it does.
  Object.assign(memory, { live, newest, olderJobId: jobId });
  throw olderJob(`${jobId} is older than what ${refusedBy} got already`);
}

async function start(run: SiteRun, exporting: Exporting): Promise<void> {
  // A service that keeps answering "busy" is given up like a job that never ends.
  const options = timeLimit(run, exporting, `start export of ${exporting.domain}`);
  const { domain } = exporting;
  exporting.idempotencyKey ??= await makeKey(exporting);
  const { idempotencyKey } = exporting;
  const started = await startExport.executeWithOptions(options, [{ domain, idempotencyKey }]);
  const why = whyOlder(run.memory, started);
  if (why !== null) {
    run.memory.olderJobId = started.jobId;
    throw olderJob(why);
  }
  exporting.jobId = started.jobId;
  exporting.version = started.version;
  exporting.createdAt = comparableTime(run.memory, started);
  exporting.stage = 'polling';
}

async function makeKey({ cycle, attempt, domain }: Exporting): Promise<string> {
  // Earlier releases made it of the first run's id, which a reset or a restored database repeats.
  if (!patched('export-key-2026-11')) return `${workflowInfo().firstExecutionRunId}:${cycle}:${attempt}`;
  return await createExportKey.executeWithOptions({ summary: `key for an export of ${domain}`.slice(0, 200) }, []);
}

async function poll(run: SiteRun, exporting: Exporting): Promise<Outcome | 'finished'> {
  const jobId = jobOf(exporting);
  const scope = new CancellationScope();
  try {
    const finished = await scope.run(() => {
      const polling = pollExport.executeWithOptions(timeLimit(run, exporting, `wait for ${jobId}`), [{ jobId }]);
      return Promise.race([polling, replacement(run, exporting, jobId)]);
    });
    if (finished === 'replaced' || (finished.status === 'failed' && exporting.cancelling)) return 'replaced';
    noteEnd(exporting, finished);
    return 'finished';
  } catch (error) {
    if (!isCancellation(error) && readFailure(error).type === 'TimedOut') await giveUp(run, jobId);
    throw error;
  } finally {
    // Whichever of the two came second is no longer wanted.
    scope.cancel();
  }
}

/** Resolves once a newer publish has had the running job cancelled. Never, where the service can't cancel. */
async function replacement(run: SiteRun, exporting: Exporting, jobId: string): Promise<'replaced'> {
  for (;;) {
    await condition(
      () =>
        !exporting.uncancellable && shouldReplace(exporting.publishes, run.memory.pending, run.settings, Date.now()),
    );
    exporting.cancelling = true;
    if ((await cancelJob(jobId, 'a newer publish replaces it')) === 'accepted') return 'replaced';
    exporting.cancelling = false;
    exporting.uncancellable = true;
  }
}

function noteEnd(exporting: Exporting, finished: FinishedExport): void {
  if (finished.status === 'failed') {
    const message = `${jobOf(exporting)} failed: ${finished.error}`;
    throw ApplicationFailure.create({ type: 'JobFailed', message, nonRetryable: true });
  }
  exporting.version = finished.version ?? exporting.version;
  exporting.exportedAt = finished.exportedAt ?? new Date().toISOString();
  exporting.stage = 'bundling';
}

async function bundle(run: SiteRun, exporting: Exporting): Promise<BundleLink> {
  const jobId = jobOf(exporting);
  const link = await createBundle.executeWithOptions(timeLimit(run, exporting, `bundle of ${jobId}`), [{ jobId }]);
  exporting.version = link.version ?? exporting.version;
  return link;
}

/** What is left of the site's `timeout`, and always enough for one more question. */
function timeLimit({ settings }: SiteRun, { startedAtMs }: Exporting, summary: string) {
  const leftMs = startedAtMs + settings.timeoutMs - Date.now();
  return { scheduleToCloseTimeout: Math.max(leftMs, LAST_QUESTION_MS), summary: summary.slice(0, 200) };
}

async function giveUp({ settings }: SiteRun, jobId: string): Promise<never> {
  await cancelJob(jobId, 'it took too long');
  const message = `${jobId} didn't end within ${formatDurationMs(settings.timeoutMs)} and was given up`;
  throw ApplicationFailure.create({ type: 'JobFailed', message, nonRetryable: true });
}

/** Asks the service to cancel. Whatever goes wrong with that, the job is waited for instead. */
export async function cancelJob(jobId: string, reason: string): Promise<CancelOutcome> {
  try {
    return await cancelExport.executeWithOptions({ summary: `cancel ${jobId}: ${reason}` }, [{ jobId }]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    readFailure(error);
    return 'unsupported';
  }
}

function jobOf(exporting: Exporting): string {
  if (exporting.jobId === null) throw new Error(`an export at "${exporting.stage}" has no job`);
  return exporting.jobId;
}
