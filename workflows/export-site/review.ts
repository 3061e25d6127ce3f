import { ActivityCancellationType, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { readFailure } from '../failures/read-failure.ts';
import { adminApiCall } from '../retry/activity-timeouts.ts';
import { createBundle, deploy, UPDATE_LINK_TIMEOUT } from './deploy.ts';
import type { SiteRun } from './run.ts';
import type { Exporting } from './state.ts';
import { deployReviewed, undoDeploy } from './transitions.ts';

const { judgeExport } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Why the finished export must wait for a person; empty if it may be deployed. The first export of a site has nothing to
 * be compared with.
 */
export async function judgeFinished(
  run: SiteRun,
  { jobId }: Exporting,
  options: { scheduleToCloseTimeout: number },
): Promise<string[]> {
  const { guards, domain } = run.settings;
  const { live } = run.state;
  if (guards === undefined || live === null || jobId === null || live.jobId === jobId) return [];
  const summary = `compare ${jobId} with ${live.version ?? live.jobId}, which is served`.slice(0, 200);
  const input = { jobId, domain, servedJobId: live.jobId, guards };
  const { reasons } = await judgeExport.executeWithOptions({ ...options, summary }, [input]);
  return reasons;
}

/** Deploys the held export. Throws if there is no link to it, or if a newer export came first; then nothing changed. */
export async function approveReview(run: SiteRun): Promise<void> {
  const { state } = run;
  const { review, live, newest } = state;
  if (review === null) throw approveFailed('no export waits for a review');
  const { jobId } = review;
  const options = { scheduleToCloseTimeout: UPDATE_LINK_TIMEOUT, summary: `link of the approved ${jobId}` } as const;
  const link = await createBundle.executeWithOptions(options, [{ jobId }]).catch((error: unknown) => {
    throw approveFailed(`${jobId} can't be deployed: ${readFailure(error).message}`);
  });
  if (state.review !== review) throw approveFailed(`${jobId} no longer waits for a review`);
  const { exportedAt, createdAt } = review;
  const version = link.version ?? review.version;
  deployReviewed(state, { jobId, version, exportedAt, createdAt }, link);
  run.refreshScope?.cancel();
  const { bundleUrl, expiresAt } = link;
  const newerAt = await deploy(run, { jobId, version, bundleUrl, expiresAt, reason: 'approved' });
  if (newerAt === null || state.live?.jobId !== jobId) return;
  undoDeploy(state, { live, newest }, jobId);
  throw approveFailed(`${jobId} is older than what ${newerAt} got already`);
}

function approveFailed(why: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(why, 'ApproveFailed');
}
