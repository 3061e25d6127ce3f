import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../contract/names.ts';
import { inTime, TASK_TIMEOUT } from './temporal-calls.ts';
import { findWorkflow, type WorkflowState } from './workflow-state.ts';

/** The one place that starts, cancels and describes the workflows of static export jobs. */
export type ExportWorkflows = {
  /** Starts a job's workflow. Succeeds if it was started before. Throws if Temporal is unavailable. */
  start(jobId: string): Promise<void>;
  /** Cancels a job's workflow. Succeeds if there is none. Throws if Temporal is unavailable. */
  cancel(jobId: string): Promise<void>;
  /** Terminates a job's workflow. Succeeds if there is none. Throws if Temporal is unavailable. */
  terminate(jobId: string, reason: string): Promise<void>;
  /** Throws if Temporal is unavailable. */
  look(jobId: string): Promise<WorkflowState>;
};

export function createExportWorkflows({
  client,
  taskQueue = TASK_QUEUES.platform,
}: {
  client: Client;
  taskQueue?: string;
}): ExportWorkflows {
  async function onRunning(jobId: string, call: (handle: WorkflowHandle) => Promise<unknown>): Promise<void> {
    try {
      await inTime(client, () => call(client.workflow.getHandle(jobId)));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  return {
    async start(jobId) {
      try {
        await inTime(client, () =>
          client.workflow.start(WORKFLOW_TYPES.staticExportJob, {
            // The workflow id is the job's, and closed ids are never reused, so a job can't run twice.
            workflowId: jobId,
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            taskQueue,
            workflowTaskTimeout: TASK_TIMEOUT,
            args: [{ jobId }],
          }),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },

    cancel: (jobId) => onRunning(jobId, (handle) => handle.cancel()),

    terminate: (jobId, reason) => onRunning(jobId, (handle) => handle.terminate(reason)),

    async look(jobId) {
      return (await findWorkflow(client, jobId)) ?? { state: 'unknown' };
    },
  };
}
