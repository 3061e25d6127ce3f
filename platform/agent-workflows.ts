import { setTimeout as sleepMs } from 'node:timers/promises';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { z } from 'zod';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../contract/names.ts';
import type { AgentRunKey } from './store/agent-runs.ts';
import { inTime, TASK_TIMEOUT } from './temporal-calls.ts';
import { findWorkflow, type WorkflowState } from './workflow-state.ts';

/** The row of a run ends a moment before its workflow does, and a message may come in between. In all about 3 s. */
const CLOSING_WAITS_MS = [50, 100, 200, 400, 800, 1_600];

const memo = z.looseObject({ run: z.int() });

/** The newest workflow of a job and the run it is for (0: unknown). */
export type AgentWorkflow =
  | (Exclude<WorkflowState, { state: 'unknown' }> & { run: number })
  | Extract<WorkflowState, { state: 'unknown' }>;

/** The one place that starts, cancels and looks at the workflows of agent jobs: one a run, each with the job's id. */
export type AgentWorkflows = {
  /**
   * Starts a run's workflow; that it, or a later run's, was started before is success too. Throws where Temporal is
   * away, and where an earlier run's workflow is still there.
   */
  start(key: AgentRunKey): Promise<void>;
  /** Asks a run's workflow to stop; that there is none to stop is success too. Throws where Temporal is away. */
  cancel(key: AgentRunKey): Promise<void>;
  /** Ends a run's workflow, whatever it does; that there is none to end is success too. Throws if Temporal is away. */
  terminate(key: AgentRunKey, reason: string): Promise<void>;
  /** Throws where Temporal is away. */
  look(jobId: string): Promise<AgentWorkflow>;
};

export function createAgentWorkflows({
  client,
  taskQueue = TASK_QUEUES.platform,
  sleep = sleepMs,
}: {
  client: Client;
  taskQueue?: string;
  sleep?: (ms: number) => Promise<unknown>;
}): AgentWorkflows {
  async function describe(jobId: string) {
    const found = await findWorkflow(client, jobId);
    return found && { ...found, run: memo.safeParse(found.memo).data?.run ?? 0 };
  }

  /** The workflow of exactly this run: what comes late must not reach the next one. */
  async function onRunning({ jobId, run }: AgentRunKey, call: (handle: WorkflowHandle) => Promise<unknown>) {
    const found = await describe(jobId);
    if (found?.state !== 'running' || found.run !== run) return;
    try {
      await inTime(client, () => call(client.workflow.getHandle(jobId, found.runId)));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /** False where a workflow of this job is running. */
  async function tryStart({ jobId, run }: AgentRunKey): Promise<boolean> {
    try {
      await inTime(client, () =>
        client.workflow.start(WORKFLOW_TYPES.agentJob, {
          // At most one at a time for a job. A late second one for a run that is over finds so by the row, and ends.
          workflowId: jobId,
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          taskQueue,
          workflowTaskTimeout: TASK_TIMEOUT,
          memo: { run },
          args: [{ jobId, run }],
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  }

  return {
    async start({ jobId, run }) {
      for (const waitMs of CLOSING_WAITS_MS) {
        if (await tryStart({ jobId, run })) return;
        const found = await describe(jobId);
        if (found !== undefined && found.run >= run) return;
        await sleep(waitMs);
      }
      if (await tryStart({ jobId, run })) return;
      throw new Error(`An earlier run of ${jobId} has not closed its workflow yet`);
    },

    cancel: (key) => onRunning(key, (handle) => handle.cancel()),

    terminate: (key, reason) => onRunning(key, (handle) => handle.terminate(reason)),

    async look(jobId) {
      return (await describe(jobId)) ?? { state: 'unknown' };
    },
  };
}
