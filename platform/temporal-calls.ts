import type { Client } from '@temporalio/client';

/** Where Temporal doesn't answer in this time, the reconciler tries later. */
const CALL_TIMEOUT_MS = 5_000;

/** A worker killed in the middle of a workflow's turn is given up after this. Temporal's default would be 10 s. */
export const TASK_TIMEOUT = '5s';

/** Calls Temporal for 5 s at most. Throws where it is away. */
export function inTime<Result>(client: Client, call: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
}
