import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { createBundle, findExport } from './activity-proxies.ts';
import { backOffMs } from './back-off.ts';
import { addRequest } from './debounce.ts';
import { deploy } from './deploy.ts';
import { endBackOff } from './export-back-off.ts';
import { type Failure, readFailure, toSiteError } from './failures.ts';
import { rememberLink, rememberVersion } from './live-job.ts';
import { jobDueAtMs, nextRefreshAtMs } from './refresh-due.ts';
import { rereadSettings, type SiteRun } from './site-run.ts';
import { hasUnknownPin, jobsInUse } from './targets.ts';

/** A link that couldn't be renewed within this time is the loop's to try again: the site's state tells why. */
const BUNDLE_PATIENCE = '10m';

/** Keeps every link in use fresh, whatever becomes of exports meanwhile. Ends only with the run. */
export async function refreshLoop(run: SiteRun): Promise<void> {
  while (!run.removed) {
    // A deployment that is being told isn't behind.
    await condition(() => run.memory.live !== null && run.deploysWaiting === 0);
    const changes = run.refreshChanges;
    const waitMs = nextRefreshAtMs(run) - Date.now();
    if (waitMs > 0) {
      const summary = `next refresh of the link of ${run.site}`;
      await condition(() => run.refreshChanges !== changes, waitMs, { summary });
    } else {
      await refreshLinks(run, { force: false });
    }
  }
}

/**
 * Renews the links that are due (all of them with `force`) and gives them to their deployments. One at a time.
 * Never throws; what went wrong is in the memory.
 */
export async function refreshLinks(run: SiteRun, { force }: { force: boolean }): Promise<void> {
  while (run.refreshScope !== null) await condition(() => run.refreshScope === null);
  const scope = new CancellationScope();
  run.refreshScope = scope;
  const startedAtMs = Date.now();
  const dueBeforeMs = force ? Number.POSITIVE_INFINITY : startedAtMs;
  try {
    await scope.run(() => renewAll(run, dueBeforeMs));
    const { refresh } = run.memory;
    run.memory.refresh = { ...refresh, failures: 0, notBeforeMs: 0, tookMs: Date.now() - startedAtMs };
    run.memory.refreshError = null;
    // The key works (again): an export that it was refused for needn't wait any longer.
    if (run.memory.backOff?.keyRefused) endBackOff(run.memory);
  } catch (error) {
    if (isCancellation(error)) {
      // Replaced by a newer link, which is nobody's fault; the end of the run is its own loop's to pass on.
      if (CancellationScope.current().consideredCancelled) throw error;
      return;
    }
    refreshFailed(run, readFailure(error));
  } finally {
    run.refreshScope = null;
    run.refreshChanges++;
  }
}

async function renewAll(run: SiteRun, dueBeforeMs: number): Promise<void> {
  const { memory } = run;
  if (!(await rereadSettings(run))) return;
  await findPinnedJobs(run);
  for (const jobId of jobsInUse(memory)) {
    if (jobDueAtMs(run, jobId) > dueBeforeMs) continue;
    const version = memory.jobs.find((job) => job.jobId === jobId)?.version ?? null;
    const options = { scheduleToCloseTimeout: BUNDLE_PATIENCE, summary: `fresh link for ${version ?? jobId}` } as const;
    const link = await createBundle.executeWithOptions(options, [{ jobId }]);
    await deploy(run, { jobId, version: link.version ?? version, bundleUrl: link.bundleUrl, reason: 'refresh' });
    // Only now is it the link that people rely on.
    rememberLink(memory, jobId, link);
  }
}

async function findPinnedJobs(run: SiteRun): Promise<void> {
  for (const target of run.memory.targets.filter((candidate) => hasUnknownPin(run.memory, candidate))) {
    const { pin } = target;
    if (pin === null) continue;
    const options = { scheduleToCloseTimeout: '1m', summary: `job of the pinned version ${pin}` } as const;
    const jobId = await findExport.executeWithOptions(options, [{ domain: run.settings.domain, version: pin }]);
    target.searchedPin = pin;
    if (jobId !== null) rememberVersion(run.memory, jobId, pin);
  }
}

function refreshFailed(run: SiteRun, failure: Failure): void {
  const { memory } = run;
  const nowMs = Date.now();
  const failures = memory.refresh.failures + 1;
  const gone = failure.type === 'JobGone';
  const waitMs = Math.max(backOffMs(gone ? 'gone' : 'refresh', failures), failure.retryAfterMs ?? 0);
  memory.refresh = { ...memory.refresh, failures, notBeforeMs: nowMs + waitMs };
  memory.refreshError = toSiteError(failure, nowMs);
  const liveJobId = memory.live?.jobId ?? null;
  if (gone && jobsInUse(memory).includes(liveJobId ?? '') && memory.refresh.goneJobId !== liveJobId) {
    // Only a new export brings a link again. Asked for once a job; its own failures have their own back-off.
    memory.refresh.goneJobId = liveJobId;
    memory.pending = addRequest(memory.pending, nowMs);
  }
}
