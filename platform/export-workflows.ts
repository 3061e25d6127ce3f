import type { Client } from '@temporalio/client';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../contract/names.ts';
import { ifRunning, tryStart } from './temporal-calls.ts';
import { findWorkflow, type WorkflowState } from './workflow-state.ts';

/** The one place that starts, cancels and describes the workflows of static export jobs. */
export type ExportWorkflows = {
  /** Starts a job's workflow. Succeeds if it was started before. Throws if Temporal is unavailable. */
  start(jobId: string, domain: string): Promise<void>;
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
  return {
    async start(jobId, domain) {
      await tryStart(client, WORKFLOW_TYPES.staticExportJob, {
        // The workflow id is the job's, and closed ids are never reused, so a job can't run twice.
        workflowId: jobId,
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        taskQueue,
        args: [{ jobId }],
        staticSummary: `Exports ${domain}`.slice(0, 200),
      });
    },

    cancel: (jobId) => ifRunning(client, () => client.workflow.getHandle(jobId).cancel()),

    terminate: (jobId, reason) => ifRunning(client, () => client.workflow.getHandle(jobId).terminate(reason)),

    async look(jobId) {
      return (await findWorkflow(client, jobId)) ?? { state: 'unknown' };
    },
  };
}
