import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { inTime } from './temporal-calls.ts';

/** One failed workflow task may be a killed worker. A third attempt isn't. */
const FAILING_ATTEMPT = 3;
/** Signals and cancel requests may come after the last workflow task. */
const NEWEST_EVENTS = 20;

/** The state of a job's newest workflow. */
export type WorkflowState =
  /** `failingSince`: when its workflow task began to fail repeatedly; null if it doesn't fail. */
  | { state: 'running'; failingSince: Date | null }
  /** `status` as Temporal names it, such as `TERMINATED`. */
  | { state: 'ended'; status: string }
  /** Temporal never had it or no longer has it. */
  | { state: 'unknown' };

type FoundWorkflow = Exclude<WorkflowState, { state: 'unknown' }> & {
  runId: string;
  memo: Record<string, unknown> | undefined;
};

/** Describes the newest workflow of an id. Undefined if Temporal has none; throws if Temporal is unavailable. */
export async function findWorkflow(client: Client, workflowId: string): Promise<FoundWorkflow | undefined> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    const { status, runId, memo, raw } = await inTime(client, () => handle.describe());
    if (status.name !== 'RUNNING') return { state: 'ended', status: status.name, runId, memo };
    const isFailing = (raw.pendingWorkflowTask?.attempt ?? 0) >= FAILING_ATTEMPT;
    const failingSince = isFailing ? await lastFailure(client, workflowId, runId) : null;
    return { state: 'running', failingSince, runId, memo };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * Says when the newest workflow task first failed or timed out, if it did. Temporal's history has the first failure,
 * but not its retries.
 */
async function lastFailure(client: Client, workflowId: string, runId: string): Promise<Date | null> {
  const { history } = await inTime(client, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId, runId },
      maximumPageSize: NEWEST_EVENTS,
    }),
  );
  const newest = history?.events?.find(
    (event) =>
      event.workflowTaskFailedEventAttributes ??
      event.workflowTaskTimedOutEventAttributes ??
      event.workflowTaskCompletedEventAttributes,
  );
  const hasFailed = newest?.workflowTaskFailedEventAttributes ?? newest?.workflowTaskTimedOutEventAttributes;
  return hasFailed && newest?.eventTime ? new Date(Number(newest.eventTime.seconds ?? 0) * 1_000) : null;
}

/** Why a job ended without a result, for its owner. */
export function lostReason(job: 'export' | 'run', workflow: WorkflowState): string {
  const again = job === 'export' ? 'Start it again' : 'Send the prompt again';
  switch (workflow.state) {
    case 'running': {
      const since = workflow.failingSince?.toISOString() ?? 'a while ago';
      return `The ${job} can't continue: its workflow task has failed since ${since}; the platform worker's log says why. ${again} once that is fixed`;
    }
    case 'unknown':
      return `The ${job} was lost: Temporal doesn't have its workflow any more. ${again}`;
    case 'ended':
      return `The ${job} was lost: its workflow ${ENDINGS[workflow.status] ?? 'ended without a result'}. ${again}`;
  }
}

const ENDINGS: Readonly<Record<string, string>> = {
  TERMINATED: 'was terminated in Temporal',
  TIMED_OUT: 'timed out in Temporal',
};
