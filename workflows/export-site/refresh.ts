import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { rereadSettings } from '../settings/read-settings.ts';
import { backOffMs } from '../trouble/back-off.ts';
import { type Failure, readFailure, toSiteError } from '../trouble/failures.ts';
import { restMs } from '../trouble/rest.ts';
import { createBundle, findExport } from './activity-proxies.ts';
import { addRequest } from './debounce.ts';
import { deploy } from './deploy.ts';
import { endBackOff } from './export-back-off.ts';
import { rememberFailure, rememberLink, rememberVersion } from './live-job.ts';
import { jobDueAtMs, nextRefreshAtMs } from './refresh-due.ts';
import type { SiteMemory } from './site-memory.ts';
import type { SiteRun } from './site-run.ts';
import { sourceOf } from './site-settings.ts';
import { jobsInUse, pinSearchAtMs } from './targets.ts';

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
      await waitAtMost(() => run.refreshChanges !== changes, waitMs, `next refresh of the link of ${run.site}`);
    } else {
      await refreshLinks(run, { force: false });
    }
  }
}

/**
 * Renews the links that are due (all of them with `force`) and gives them to their deployments. One round at a time.
 * Never throws; what went wrong is in the memory.
 */
export async function refreshLinks(run: SiteRun, { force }: { force: boolean }): Promise<void> {
  while (run.refreshScope !== null) await condition(() => run.refreshScope === null);
  const scope = new CancellationScope();
  run.refreshScope = scope;
  try {
    await scope.run(() => renewAll(run, force));
  } catch (error) {
    // Replaced by a newer link, which is nobody's fault; the end of the run is its own loop's to pass on.
    if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
  } finally {
    run.refreshScope = null;
    run.refreshChanges++;
  }
}

async function renewAll(run: SiteRun, force: boolean): Promise<void> {
  const { memory } = run;
  const startedAtMs = Date.now();
  if (!(await rereadSettings(sourceOf(run)))) return;
  await findPinnedJobs(run);
  let failed = false;
  for (const jobId of jobsInUse(memory)) {
    if (!force && jobDueAtMs(run, jobId) > startedAtMs) continue;
    try {
      await renew(run, jobId);
    } catch (error) {
      if (isCancellation(error)) throw error;
      // One job's bundle may be gone for good: the others' links mustn't wait for it.
      failed = true;
      renewalFailed(run, jobId, readFailure(error));
    }
  }
  if (failed) return;
  memory.refresh.tookMs = Date.now() - startedAtMs;
  memory.refreshError = null;
  // The key works (again): an export that it was refused for needn't wait any longer.
  if (memory.backOff?.keyRefused) endBackOff(memory);
}

async function renew(run: SiteRun, jobId: string): Promise<void> {
  const version = run.memory.jobs.find((job) => job.jobId === jobId)?.version ?? null;
  const options = { scheduleToCloseTimeout: BUNDLE_PATIENCE, summary: `fresh link for ${version ?? jobId}` } as const;
  const link = await createBundle.executeWithOptions(options, [{ jobId }]);
  const told = { jobId, version: link.version ?? version, bundleUrl: link.bundleUrl, reason: 'refresh' };
  // A deployment has a newer job than this workflow knows of, because it was reset or restored.
  if ((await deploy(run, told)) !== null) askForExport(run.memory, jobId);
  // Only now is it the link that people rely on.
  rememberLink(run.memory, jobId, link);
}

/** Time between two searches for a pinned version, if the first one failed. */
const PIN_SEARCH_INTERVAL_MS = 60_000;

/** Looks for the jobs of pinned versions. A deployment whose version isn't found keeps the link it has. */
async function findPinnedJobs(run: SiteRun): Promise<void> {
  for (const target of run.memory.targets) {
    const { pin } = target;
    const dueAtMs = pinSearchAtMs(run.memory, target);
    if (pin === null || dueAtMs === null || dueAtMs > Date.now()) continue;
    target.searchedPin = pin;
    target.searchAgainAtMs = null;
    const options = { scheduleToCloseTimeout: '1m', summary: `job of the pinned version ${pin}` } as const;
    try {
      const jobId = await findExport.executeWithOptions(options, [{ domain: run.settings.domain, version: pin }]);
      if (jobId !== null) rememberVersion(run.memory, jobId, pin);
    } catch (error) {
      if (isCancellation(error)) throw error;
      readFailure(error);
      target.searchAgainAtMs = Date.now() + PIN_SEARCH_INTERVAL_MS;
    }
  }
}

function renewalFailed({ memory }: SiteRun, jobId: string, failure: Failure): void {
  const nowMs = Date.now();
  const failures = (memory.links.find((link) => link.jobId === jobId)?.failures ?? 0) + 1;
  const gone = failure.type === 'JobGone';
  const waitMs = Math.max(backOffMs(gone ? 'gone' : 'refresh', failures), restMs(failure, failures));
  rememberFailure(memory, jobId, nowMs + waitMs);
  memory.refreshError = toSiteError(failure, nowMs);
  if (gone) askForExport(memory, jobId);
}

/** Only a new export brings a link again. Asked for once a job; its own failures have their own back-off. */
function askForExport(memory: SiteMemory, jobId: string): void {
  if (memory.live?.jobId !== jobId || memory.refresh.goneJobId === jobId) return;
  memory.refresh.goneJobId = jobId;
  memory.pending = addRequest(memory.pending, Date.now());
}
