import { ActivityCancellationType } from '@temporalio/workflow';

/** Temporal's retries of all activities. Those of the Admin API end after a minute: `adminApiCall`. */
export const retryPolicy = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/**
 * One call to the Admin API may take 15 s; the attempt gets a little more to report the result. The heartbeat timeout
 * detects a killed worker after 5 s. Two layers retry (docs/decisions/09): Temporal for a minute
 * (`activities/admin-api/call-admin-api.ts`), then the workflow with a longer back-off (`retry-until.ts`).
 */
export const adminApiCall = { startToCloseTimeout: '20s', heartbeatTimeout: '5s', retry: retryPolicy } as const;

/**
 * An attempt is silent until it has stored that it is sending, hence the long heartbeat timeout. The mail activities
 * decide themselves when to give up. A cancelled one finishes the message it is sending, so that its outcome is known.
 */
export const mailTimeouts = {
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  retry: retryPolicy,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

/** Activities that take milliseconds: only a killed worker takes longer than 5 s. */
export const quickActivity = {
  startToCloseTimeout: '5s',
  retry: retryPolicy,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;
