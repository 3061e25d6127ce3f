import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../contract/names.ts';
import { inTime, TASK_TIMEOUT } from './temporal-calls.ts';
import { findWorkflow, type WorkflowState } from './workflow-state.ts';

/** The one place that starts, cancels and looks at the workflows of static export jobs. */
export type ExportWorkflows = {
  /** Starts a job's workflow; that it was started before is success too. Throws where Temporal is away. */
  start(jobId: string): Promise<void>;
  /** Asks a job's workflow to stop; that there is none to stop is success too. Throws where Temporal is away. */
  cancel(jobId: string): Promise<void>;
  /** Ends a job's workflow, whatever it does; that there is none to end is success too. Throws if Temporal is away. */
  terminate(jobId: string, reason: string): Promise<void>;
  /** Throws if Temporal is away. */
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
            // The id is the job's, and a closed one is never reused: a job can't run twice.
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
