import { ActivityCancellationType, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { BundleLink } from '../../activities/admin-api/create-bundle.ts';
import type { Activities } from '../../activities/create-activities.ts';
import { backoff } from '../../base/backoff.ts';
import { readFailure, toSiteError } from '../failures/read-failure.ts';
import { adminApiCall } from '../retry/activity-timeouts.ts';
import { spreadRetryAfterMs } from '../retry/retry-after.ts';
import { refreshEnded } from './histories.ts';
import { linkFailed, linkObtained } from './jobs.ts';
import type { MutableState } from './state.ts';

/** Obtains a fresh link to the bundle of a job. May be repeated, so a canceled one is not awaited. */
const { createBundle } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** After this time the failure is shown in the state, and the call is repeated later. */
const LINK_TIMEOUT = '10m';

/** A due link could not be refreshed: the site is about to lose it. */
export const refreshRetryMs = backoff({ firstMs: 5_000, maxMs: 60_000 });
/** The bundle is gone. Only a new export, or an operator, changes that. */
export const goneDelayMs = backoff({ firstMs: 60_000, maxMs: 3_600_000 });

/**
 * The links of one run, with their URLs, which no state and no other run gets. All deployments of a job share one call, and a
 * link for as long as half of its life is left.
 */
export type LinkDesk = {
  /**
   * A link that was obtained after `newerThanMs` (0: any).
   * @param why for the Temporal UI, and whether it counts as a refresh
   * @throws what the activity throws; the state has the failure then
   */
  fresh(jobId: string, newerThanMs: number, why: 'refresh' | 'deploy' | 'export'): Promise<BundleLink>;
};

export function createLinkDesk(state: MutableState): LinkDesk {
  const links = new Map<string, BundleLink>();
  const calls = new Map<string, Promise<BundleLink>>();

  async function obtain(jobId: string, why: 'refresh' | 'deploy' | 'export'): Promise<BundleLink> {
    const version = state.jobs.find((job) => job.jobId === jobId)?.version ?? null;
    const summary = `link of ${version ?? jobId} (${why})`.slice(0, 200);
    try {
      const link = await createBundle.executeWithOptions({ summary, scheduleToCloseTimeout: LINK_TIMEOUT }, [
        { jobId, projectId: state.settings?.projectId },
      ]);
      links.set(jobId, link);
      linkObtained(state, jobId, link);
      if (why === 'refresh') refreshEnded(state.histories, { version, expiresAt: link.expiresAt, error: null });
      return link;
    } catch (error) {
      if (isCancellation(error) || why === 'export') throw error;
      const failure = readFailure(error);
      const failures = (state.linkTrouble[jobId]?.failures ?? 0) + 1;
      const gone = failure.type === 'JobGone';
      const delayMs = gone ? goneDelayMs(failures) : refreshRetryMs(failures);
      const nowMs = Date.now();
      const notBeforeMs = nowMs + Math.max(delayMs, spreadRetryAfterMs(failure, failures));
      linkFailed(state, jobId, { failures, notBeforeMs, gone, error: toSiteError(failure, nowMs) });
      refreshEnded(state.histories, { version, expiresAt: null, error: failure.message });
      throw error;
    } finally {
      calls.delete(jobId);
    }
  }

  return {
    async fresh(jobId, newerThanMs, why) {
      const known = links.get(jobId);
      if (known !== undefined && known.obtainedAtMs > newerThanMs && isHalfAlive(known)) return known;
      const call = calls.get(jobId) ?? obtain(jobId, why);
      calls.set(jobId, call);
      return await call;
    },
  };
}

function isHalfAlive({ obtainedAtMs, lifetimeMs }: BundleLink): boolean {
  return Date.now() < obtainedAtMs + lifetimeMs / 2;
}
