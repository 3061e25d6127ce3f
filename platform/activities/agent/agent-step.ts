import { createGit, type Git, type Remote } from '../../../forge/git/git.ts';
import { CANCELLED } from '../../store/agent-job-transitions.ts';
import { getAgentJob } from '../../store/agent-jobs.ts';
import type { AgentRunKey } from '../../store/agent-runs.ts';
import type { Database } from '../../store/database.ts';
import { withHeartbeat } from '../with-heartbeat.ts';
import type { AgentContext } from './agent-deps.ts';
import { impossible, ownerFailure } from './owner-failure.ts';

export type StepTools = { git: Git; signal: AbortSignal };

type StepOptions = {
  key: AgentRunKey;
  /** Shown in the Temporal UI, so it must not contain the prompt or the agent's output. */
  details: () => unknown;
};

/**
 * Runs one step of an agent job with a heartbeat every second. Each heartbeat also reads the job's row and fails the
 * step if the run was cancelled or has ended: Temporal may never deliver a cancel that was accepted while it was down.
 * Errors of git and forge become a sentence for the job's owner.
 */
export function agentStep<Result>(
  { db, logger, gitEnvironment, secrets }: AgentContext,
  { key, details }: StepOptions,
  work: (tools: StepTools) => Promise<Result>,
): Promise<Result> {
  return withHeartbeat({ details, onTick: () => refuseOver(db, key), logger }, async ({ signal }) => {
    try {
      return await work({ signal, git: createGit({ signal, environment: gitEnvironment }) });
    } catch (error) {
      throw ownerFailure(error, secrets);
    }
  });
}

/** Throws a non-retryable failure if the run was cancelled or has ended. */
export async function refuseOver(db: Database, { jobId, run }: AgentRunKey): Promise<void> {
  const job = await getAgentJob(db, jobId);
  if (job?.run === run && job.status === 'active' && job.cancelRequestedAt === null) return;
  throw impossible(CANCELLED);
}

/** A repository with its credentials. Throws `ForgeError`. */
export async function remoteOf({ forgeFor }: AgentContext, repository: string): Promise<Remote> {
  return { repository, credentials: await forgeFor(repository).gitCredentials(repository) };
}
