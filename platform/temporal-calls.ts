import type { Client } from '@temporalio/client';

/** If Temporal doesn't respond in time, the reconciler retries later. */
const CALL_TIMEOUT_MS = 5_000;

/** A killed worker's workflow task times out after this. Temporal's default is 10 s. */
export const TASK_TIMEOUT = '5s';

/** Calls Temporal with a timeout of 5 s. Throws if it is unavailable. */
export function inTime<Result>(client: Client, call: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
}
