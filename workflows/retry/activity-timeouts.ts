import { ActivityCancellationType, inWorkflowContext, workflowInfo } from '@temporalio/workflow';
import { deploymentTaskQueue, poolTaskQueue } from '../../contract/names.ts';
import { deploymentPool, type Pool } from '../../contract/pools.ts';
import type { TargetKind } from '../../contract/target-kind.ts';

/** Runs an activity in a pool of the workflow's own orchestrator. Spread it into the options of `proxyActivities`. */
export function inPool(pool: Pool): { taskQueue?: string } {
  // Tests import the modules of workflows without running one.
  return inWorkflowContext() ? { taskQueue: poolTaskQueue(workflowInfo().taskQueue, pool) } : {};
}

/**
 * Runs an activity where a deployment of this kind is written: in the pool of the kind, or on the machine that has its
 * file or folder. Spread it into the options of each call of `writeDeployment` and `waitForPinChange`.
 */
export function inPoolOf({ kind, host }: { kind: TargetKind; host: string | null }): { taskQueue?: string } {
  return host === null ? inPool(deploymentPool(kind)) : { taskQueue: deploymentTaskQueue(host, kind) };
}

/** Temporal's retries of all activities. Those of the Admin API end after a minute: `adminApiCall`. */
export const retryPolicy = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/**
 * One call to the Admin API may take 15 s; the attempt gets a little more to report the result. The heartbeat timeout
 * detects a killed worker after 5 s. Two layers retry (docs/decisions/09): Temporal for a minute
 * (`activities/admin-api/call-admin-api.ts`), then the workflow with a longer back-off (`retry-until.ts`).
 */
export const adminApiCall = {
  ...inPool('admin-api'),
  startToCloseTimeout: '20s',
  heartbeatTimeout: '5s',
  retry: retryPolicy,
} as const;

/**
 * An attempt is silent until it has stored that it is sending, hence the long heartbeat timeout. The mail activities
 * decide themselves when to give up. A canceled one finishes the message it is sending, so that its outcome is known.
 */
export const mailTimeouts = {
  ...inPool('mail'),
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  retry: retryPolicy,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

/** A few calls to the forge each. */
export const forgeCalls = {
  ...inPool('forge'),
  startToCloseTimeout: '2m',
  heartbeatTimeout: '5s',
  retry: { ...retryPolicy, maximumInterval: '2m' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;

/**
 * Activities that take milliseconds: only a killed worker takes longer than 5 s. They run beside the workflows, unless
 * a pool is added.
 */
export const quickActivity = {
  startToCloseTimeout: '5s',
  retry: retryPolicy,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;

/** Reading the settings of a site or a rule from a worker's galley.yaml. */
export const settingsRead = { ...quickActivity, ...inPool('settings') } as const;
