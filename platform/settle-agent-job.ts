import type { Logger } from 'pino';
import { forgetPacks } from './activities/agent/forget-packs.ts';
import type { AgentWorkflow, AgentWorkflows } from './agent-workflows.ts';
import type { ObjectStore } from './objects/object-store.ts';
import { failAgentRun } from './store/agent-job-transitions.ts';
import type { UnsettledAgentJob } from './store/agent-jobs.ts';
import type { Database } from './store/database.ts';
import { getProject } from './store/projects.ts';
import { lostReason } from './workflow-state.ts';

/**
 * How to reconcile an active job with its newest workflow. A workflow of an earlier run ends soon or has ended; the
 * current run's is started after it. `stuck`: its workflow task has been failing since before `failingBefore`.
 */
export function decideAgentJob(
  job: UnsettledAgentJob,
  workflow: AgentWorkflow,
  failingBefore: Date,
): 'leave' | 'start' | 'cancel' | 'lost' | 'stuck' {
  const ownWorkflow = workflow.state !== 'unknown' && workflow.run === job.run;
  if (workflow.state === 'running') {
    if (!ownWorkflow) return 'leave';
    if (workflow.failingSince !== null && workflow.failingSince < failingBefore) return 'stuck';
    return job.cancelRequestedAt === null ? 'leave' : 'cancel';
  }
  return ownWorkflow || job.begun ? 'lost' : 'start';
}

type SettlingDeps = {
  db: Database;
  objects: ObjectStore;
  workflows: AgentWorkflows;
  logger: Logger;
  /** A workflow whose task has been failing since before this time is given up. */
  failingBefore: Date;
};

/** The row was read before its workflow, so it may have changed; every update is guarded. */
export async function settleAgentJob(
  job: UnsettledAgentJob,
  { db, objects, workflows, logger, failingBefore }: SettlingDeps,
): Promise<void> {
  const key = { jobId: job.id, run: job.run };
  const workflow = await workflows.look(job.id);
  const decision = decideAgentJob(job, workflow, failingBefore);
  switch (decision) {
    case 'leave':
      return;
    case 'cancel':
      return workflows.cancel(key);
    case 'start':
      await workflows.start(key, (await getProject(db, job.projectId))?.domain ?? job.projectId);
      logger.info(key, 'Started the workflow of an agent run that had none');
      return;
    case 'lost':
    case 'stuck': {
      // As at a run's normal end. An unavailable object store must not keep the job from ending.
      await forgetPacks(objects, key).catch((error: unknown) => {
        logger.warn({ err: error, ...key }, 'What a lost agent run worked with could not be removed');
      });
      const error = lostReason('run', workflow);
      const ended = await failAgentRun(db, { ...key, error });
      // Its workflow may have completed it since it was listed.
      if (ended?.status !== 'failed') return;
      logger.warn(
        { ...key, workflow: workflow.state, reason: error },
        'Failed an agent run without a working workflow',
      );
      // After the row, so that the workflow finds the run over, whatever it still does.
      if (decision === 'stuck') await workflows.terminate(key, error);
    }
  }
}
