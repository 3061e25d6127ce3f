import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { rereadSettings } from '../entity/configuration.ts';
import { waitAtMost } from '../entity/coroutines.ts';
import { type Failure, readFailure, toSiteError } from '../failures/read-failure.ts';
import { adminApiCall } from '../retry/activity-timeouts.ts';
import { spreadRetryAfterMs } from '../retry/retry-after.ts';
import { settingsSource } from './configuration.ts';
import { createBundle, deploy } from './deploy.ts';
import { refreshEnded } from './histories.ts';
import type { SiteRun } from './run.ts';
import { goneDelayMs, nextRefreshAtMs, plannedRefreshAtMs, refreshDueAtMs, refreshRetryMs } from './schedule.ts';
import {
  beginPinSearch,
  jobsInUse,
  linkRefreshed,
  linkRefreshFailed,
  pinSearchAtMs,
  rememberLink,
  rememberPinned,
  repeatPinSearch,
} from './targets.ts';
import { endRefresh, requestExportInsteadOf } from './transitions.ts';

const { findExport } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** After this time the failure is shown in the state, and the refresh loop retries. */
const LINK_TIMEOUT = '10m';

/** The delay after a failed search for the job of a pin. */
const PIN_SEARCH_INTERVAL_MS = 60_000;

/** Refreshes every link in use before it expires, independently of exports. */
export async function refreshLoop(run: SiteRun): Promise<void> {
  while (!run.removed) {
    // A deployment that is being written to is not behind.
    await condition(() => run.state.live !== null && run.deploysWaiting === 0);
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
 * Refreshes the links that are due (all of them with `force`) and deploys them. One refresh runs at a time. Failures don't
 * throw: the state records them.
 */
async function refreshLinks(run: SiteRun, { force }: { force: boolean }): Promise<void> {
  if (run.refreshScope !== null) await untilIdle(run);
  const scope = new CancellationScope();
  run.refreshScope = scope;
  try {
    await scope.run(() => refreshDueLinks(run, force));
  } catch (error) {
    // A newer job cancels the refresh; only the end of the run is passed on.
    if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
  } finally {
    run.refreshScope = null;
    run.refreshChanges++;
  }
}

/** Refreshes all links. Those who ask while a refresh runs share the next one, which begins after they asked. */
export function refreshNext(run: SiteRun): Promise<void> {
  if (run.refreshScope === null) return refreshLinks(run, { force: true });
  run.nextRefresh ??= untilIdle(run).then(() => {
    run.nextRefresh = null;
    return refreshLinks(run, { force: true });
  });
  return run.nextRefresh;
}

async function untilIdle(run: SiteRun): Promise<void> {
  while (run.refreshScope !== null) await condition(() => run.refreshScope === null);
}

async function refreshDueLinks(run: SiteRun, force: boolean): Promise<void> {
  const { state } = run;
  const startedAtMs = Date.now();
  await rereadSettings(settingsSource(run));
  await findPinnedJobs(run);
  let failed = false;
  for (const jobId of jobsInUse(state)) {
    if (!force && refreshDueAtMs(run, jobId) > startedAtMs) continue;
    try {
      await refreshLink(run, jobId, { force });
    } catch (error) {
      if (isCancellation(error)) throw error;
      // The bundle may be gone for good, so the other jobs' links don't wait for it.
      failed = true;
      applyFailure(run, jobId, readFailure(error));
    }
  }
  if (!failed) endRefresh(state, Date.now() - startedAtMs);
}

async function refreshLink(run: SiteRun, jobId: string, { force }: { force: boolean }): Promise<void> {
  const version = versionOf(run.state, jobId);
  const onlyBehind = !force && isRetryOnly(run, jobId);
  const options = { scheduleToCloseTimeout: LINK_TIMEOUT, summary: `fresh link for ${version ?? jobId}` } as const;
  const link = await createBundle.executeWithOptions(options, [{ jobId }]);
  const { bundleUrl, expiresAt } = link;
  const fresh = { jobId, version: link.version ?? version, bundleUrl, expiresAt, reason: 'refresh', onlyBehind };
  // A deployment has a newer job than this reset or restored workflow knows of.
  if ((await deploy(run, fresh)) !== null) requestExportInsteadOf(run.state, jobId, Date.now());
  // The other deployments keep theirs, which expires first.
  if (onlyBehind) linkRefreshed(run.state, jobId);
  else rememberLink(run.state, jobId, link);
  refreshEnded(run.state.histories, { version: fresh.version, expiresAt: link.expiresAt, error: null });
}

/**
 * Whether only a failed or late write needs the link. Values files all get it, which costs nothing; other
 * deployments would commit, upgrade or rebuild each time that one of them is retried.
 */
function isRetryOnly(run: SiteRun, jobId: string): boolean {
  const { state } = run;
  const link = state.links.find((each) => each.jobId === jobId);
  if (link === undefined || link.obtainedAtMs === 0 || plannedRefreshAtMs(run, link) <= Date.now()) return false;
  return state.targets.some(({ kind }) => kind !== 'valuesFile');
}

function applyFailure({ state }: SiteRun, jobId: string, failure: Failure): void {
  const nowMs = Date.now();
  const failures = (state.links.find((link) => link.jobId === jobId)?.failures ?? 0) + 1;
  const gone = failure.type === 'JobGone';
  const delayMs = gone ? goneDelayMs(failures) : refreshRetryMs(failures);
  const waitMs = Math.max(delayMs, spreadRetryAfterMs(failure, failures));
  linkRefreshFailed(state, jobId, toSiteError(failure, nowMs), nowMs + waitMs);
  refreshEnded(state.histories, { version: versionOf(state, jobId), expiresAt: null, error: failure.message });
  if (gone) requestExportInsteadOf(state, jobId, nowMs);
}

function versionOf({ jobs }: SiteRun['state'], jobId: string): string | null {
  return jobs.find((job) => job.jobId === jobId)?.version ?? null;
}

/** Searches the service for the jobs of pinned versions. */
async function findPinnedJobs(run: SiteRun): Promise<void> {
  for (const target of run.state.targets) {
    const { pin } = target;
    const dueAtMs = pinSearchAtMs(run.state, target);
    if (pin === null || dueAtMs === null || dueAtMs > Date.now()) continue;
    beginPinSearch(target);
    const options = { scheduleToCloseTimeout: '1m', summary: `job of the pinned version ${pin}` } as const;
    try {
      const jobId = await findExport.executeWithOptions(options, [{ domain: run.settings.domain, version: pin }]);
      if (jobId !== null) rememberPinned(run.state, jobId, pin);
    } catch (error) {
      if (isCancellation(error)) throw error;
      readFailure(error);
      repeatPinSearch(target, Date.now() + PIN_SEARCH_INTERVAL_MS);
    }
  }
}
