import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../contract/names.ts';
import { inTime, TASK_TIMEOUT } from './temporal-calls.ts';

export type ExportWorkflowState = 'running' | 'ended' | 'unknown';

/** The one place that starts, cancels and looks at the workflows of static export jobs. */
export type ExportWorkflows = {
  /** Starts a job's workflow; that it was started before is success too. Throws where Temporal is away. */
  start(jobId: string): Promise<void>;
  /** Asks a job's workflow to stop; that there is none to stop is success too. Throws where Temporal is away. */
  cancel(jobId: string): Promise<void>;
  /** `unknown`: Temporal has never heard of it, or has forgotten it. Throws where Temporal is away. */
  look(jobId: string): Promise<ExportWorkflowState>;
};

export function createExportWorkflows({
  client,
  taskQueue = TASK_QUEUES.platform,
}: {
  client: Client;
  taskQueue?: string;
}): ExportWorkflows {
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

    async cancel(jobId) {
      try {
        await inTime(client, () => client.workflow.getHandle(jobId).cancel());
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },

    async look(jobId) {
      try {
        const { status } = await inTime(client, () => client.workflow.getHandle(jobId).describe());
        return status.name === 'RUNNING' ? 'running' : 'ended';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'unknown';
        throw error;
      }
    },
  };
}
