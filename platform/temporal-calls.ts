import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';

/** If Temporal doesn't respond in time, the reconciler retries later. */
const CALL_TIMEOUT_MS = 5_000;

/** A killed worker's workflow task times out after this. Temporal's default is 10 s. */
const TASK_TIMEOUT = '5s';

/** Calls Temporal with a timeout of 5 s. Throws if it is unavailable. */
export function inTime<Result>(client: Client, call: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
}

/** Starts a workflow; false if its id is taken. Throws if Temporal is unavailable. */
export async function tryStart(client: Client, type: string, options: WorkflowStartOptions): Promise<boolean> {
  try {
    await inTime(client, () => client.workflow.start(type, { ...options, workflowTaskTimeout: TASK_TIMEOUT }));
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** Calls a workflow, and does nothing if there is none that runs. Throws if Temporal is unavailable. */
export async function ifRunning(client: Client, call: () => Promise<unknown>): Promise<void> {
  try {
    await inTime(client, call);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
