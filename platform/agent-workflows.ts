import { setTimeout as sleepMs } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { z } from 'zod';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../contract/names.ts';
import type { AgentRunKey } from './store/agent-runs.ts';
import { ifRunning, tryStart } from './temporal-calls.ts';
import { findWorkflow, type WorkflowState } from './workflow-state.ts';

/** A run's row ends a moment before its workflow, and a message may arrive in between. About 3 s in total. */
const CLOSING_WAITS_MS = [50, 100, 200, 400, 800, 1_600];

const memo = z.looseObject({ run: z.int() });

/** A job's newest workflow and its run (0: unknown). */
export type AgentWorkflow =
  | (Exclude<WorkflowState, { state: 'unknown' }> & { run: number })
  | Extract<WorkflowState, { state: 'unknown' }>;

/**
 * The one place that starts, cancels and describes the workflows of agent jobs: one per run, each with the job's id.
 */
export type AgentWorkflows = {
  /**
   * Starts a run's workflow. Succeeds if it, or a later run's, was started before. Throws if Temporal is unavailable or
   * an earlier run's workflow is still open. `domain` is the project's, for people who read Temporal's list.
   */
  start(key: AgentRunKey, domain: string): Promise<void>;
  /** Cancels a run's workflow. Succeeds if there is none. Throws if Temporal is unavailable. */
  cancel(key: AgentRunKey): Promise<void>;
  /** Terminates a run's workflow. Succeeds if there is none. Throws if Temporal is unavailable. */
  terminate(key: AgentRunKey, reason: string): Promise<void>;
  /** Throws if Temporal is unavailable. */
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

  /** The workflow of exactly this run: a late request must not affect the next one. */
  async function onRunning({ jobId, run }: AgentRunKey, call: (handle: WorkflowHandle) => Promise<unknown>) {
    const found = await describe(jobId);
    if (found?.state !== 'running' || found.run !== run) return;
    await ifRunning(client, () => call(client.workflow.getHandle(jobId, found.runId)));
  }

  /** False if a workflow of this job is running. */
  function startRun({ jobId, run }: AgentRunKey, domain: string): Promise<boolean> {
    return tryStart(client, WORKFLOW_TYPES.agentJob, {
      // Only one at a time per job. A late second start for a run that is over ends when it reads the row.
      workflowId: jobId,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      taskQueue,
      memo: { run },
      args: [{ jobId, run }],
      staticSummary: `Runs an agent for ${domain}`.slice(0, 200),
    });
  }

  return {
    async start({ jobId, run }, domain) {
      for (const waitMs of CLOSING_WAITS_MS) {
        if (await startRun({ jobId, run }, domain)) return;
        const found = await describe(jobId);
        if (found !== undefined && found.run >= run) return;
        await sleep(waitMs);
      }
      if (await startRun({ jobId, run }, domain)) return;
      throw new Error(`An earlier run of ${jobId} has not closed its workflow yet`);
    },

    cancel: (key) => onRunning(key, (handle) => handle.cancel()),

    terminate: (key, reason) => onRunning(key, (handle) => handle.terminate(reason)),

    async look(jobId) {
      return (await describe(jobId)) ?? { state: 'unknown' };
    },
  };
}
