import { createGit, type Git, type Remote } from '../../git/git.ts';
import { lively } from '../lively.ts';
import type { AgentContext } from './agent-deps.ts';
import { ownerFailure } from './owner-failure.ts';

export type StepTools = { git: Git; signal: AbortSignal };

export type StepOptions = {
  /** What the Temporal UI shows: nothing that the prompt or the agent said. */
  details: () => unknown;
  onTick?: () => Promise<void>;
  /** Ends the step with its reason, beside what ends every activity. */
  stop?: AbortSignal;
};

/**
 * Runs one step of an agent job with a sign of life every second. What git and forge refuse becomes a sentence for the
 * job's owner.
 */
export function agentStep<Result>(
  { logger, gitEnvironment, secrets }: AgentContext,
  { stop, ...options }: StepOptions,
  work: (tools: StepTools) => Promise<Result>,
): Promise<Result> {
  return lively({ ...options, logger }, async (life) => {
    const signal = stop === undefined ? life.signal : AbortSignal.any([life.signal, stop]);
    try {
      return await work({ signal, git: createGit({ signal, environment: gitEnvironment }) });
    } catch (error) {
      stop?.throwIfAborted();
      throw ownerFailure(error, secrets);
    }
  });
}

/** A repository with what opens it. Throws `ForgeError`. */
export async function remoteOf({ forgeFor }: AgentContext, repository: string): Promise<Remote> {
  return { repository, credentials: await forgeFor(repository).gitCredentials(repository) };
}
