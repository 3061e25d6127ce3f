import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { mailCall, oneCall, retry } from '../trouble/call-limits.ts';

/** An interrupted create is waited for: whether the service accepted the job must be known. Between attempts it ends at once. */
export const { createAgentJob } = proxyActivities<Activities>({
  ...oneCall,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** It only reads: an interrupted one is simply left. */
export const { pollAgentJob } = proxyActivities<Activities>({
  ...oneCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** What an agent said is good to know, and no reason to wait for a service that is away. */
export const { readLastWords } = proxyActivities<Activities>({ ...oneCall, scheduleToCloseTimeout: '1m' });

/** Cancelling is a courtesy to the service: after half a minute the change ends without it. */
export const { cancelAgentJob } = proxyActivities<Activities>({ ...oneCall, scheduleToCloseTimeout: '30s' });

/** It only reads: an interrupted one is repeated. */
export const { renderAgentPrompt } = proxyActivities<Activities>({
  startToCloseTimeout: '10s',
  retry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** A few calls to the forge each. */
const forgeCalls = {
  startToCloseTimeout: '2m',
  heartbeatTimeout: '5s',
  retry: { ...retry, maximumInterval: '2m' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;

/**
 * How long a forge that is down is waited for, it decides by itself; this is for attempts that never come so far, as with
 * hundreds of owners to look up. The rule's own reviewers hear of the pull request all the same.
 */
export const { planReview } = proxyActivities<Activities>({ ...forgeCalls, scheduleToCloseTimeout: '1h' });

/** The mails are on their way meanwhile: after an hour they have to do. */
export const { requestReview } = proxyActivities<Activities>({ ...forgeCalls, scheduleToCloseTimeout: '1h' });

/** Before a reminder and at the end of a change: neither is to wait long for a forge that is down. */
export const { readPullRequest } = proxyActivities<Activities>({ ...forgeCalls, scheduleToCloseTimeout: '1m' });

/** Asks by its retry policy for as long as the pull request is open: see follow-pull-request.ts. */
export const { followPullRequest } = proxyActivities<Activities>({
  ...forgeCalls,
  retry: { initialInterval: '1m', backoffCoefficient: 2, maximumInterval: '1h' },
});

export const { sendReviewMail, sendOperatorMail } = proxyActivities<Activities>(mailCall);
