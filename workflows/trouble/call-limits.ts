import { ActivityCancellationType } from '@temporalio/workflow';

/** Passing trouble is retried quickly at first; 30 s is the longest that a mended service is left waiting. */
export const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/**
 * One call to the Admin API has 15 s (the attempt a little more, to report them). The heartbeat timeout makes a killed
 * worker's call be noticed after 5 s instead.
 */
export const oneCall = { startToCloseTimeout: '20s', heartbeatTimeout: '5s', retry } as const;

/**
 * As the mail activities ask for (activities/reviewers): an attempt is silent until it has stored that it is sending, so
 * its heartbeat timeout is longer than anywhere else. They decide themselves when to give up. One in the middle of a
 * message is waited for, so that its outcome is known; between attempts it ends at once.
 */
export const mailCall = {
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  retry,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;
