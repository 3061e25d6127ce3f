import type { Logger } from 'pino';
import { forgetPacks } from './activities/agent/forget-packs.ts';
import type { AgentWorkflow, AgentWorkflows } from './agent-workflows.ts';
import type { ObjectStore } from './objects/object-store.ts';
import { failAgentRun } from './store/agent-job-transitions.ts';
import type { UnsettledAgentJob } from './store/agent-jobs.ts';
import type { Database } from './store/database.ts';

export const LOST = 'The run was lost: its workflow ended without a result';

/**
 * What an active job and its newest workflow need to come together again. A workflow of an earlier run is about to end,
 * or has: the current run's is started after it.
 */
export function decideAgentJob(job: UnsettledAgentJob, workflow: AgentWorkflow): 'leave' | 'start' | 'cancel' | 'lost' {
  const ownWorkflow = workflow.state !== 'unknown' && workflow.run === job.run;
  if (workflow.state === 'running') return ownWorkflow && job.cancelRequestedAt !== null ? 'cancel' : 'leave';
  return ownWorkflow || job.begun ? 'lost' : 'start';
}

type SettlingDeps = { db: Database; objects: ObjectStore; workflows: AgentWorkflows; logger: Logger };

/** The row was read before its workflow is looked at, and every change of it is guarded: it may move on meanwhile. */
export async function settleAgentJob(
  job: UnsettledAgentJob,
  { db, objects, workflows, logger }: SettlingDeps,
): Promise<void> {
  const key = { jobId: job.id, run: job.run };
  const workflow = await workflows.look(job.id);
  switch (decideAgentJob(job, workflow)) {
    case 'leave':
      return;
    case 'cancel':
      return workflows.cancel(key);
    case 'start':
      await workflows.start(key);
      logger.info(key, 'Started the workflow of an agent run that had none');
      return;
    case 'lost':
      // As where a run ends by itself; an object store that is away must not keep the job from ending.
      await forgetPacks(objects, key).catch((error: unknown) => {
        logger.warn({ err: error, ...key }, 'What a lost agent run worked with could not be removed');
      });
      await failAgentRun(db, { ...key, error: LOST });
      logger.warn({ ...key, workflow: workflow.state }, 'Failed an agent run whose workflow is gone');
  }
}
