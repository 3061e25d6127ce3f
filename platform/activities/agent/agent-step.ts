import { ApplicationFailure } from '@temporalio/common';
import { withoutAddresses } from '../../../base/without-addresses.ts';
import { CANCELLED } from '../../../contract/admin-api.ts';
import { ForgeError } from '../../../forge/forge-error.ts';
import { createGit, type Git, type Remote } from '../../../forge/git/git.ts';
import { GitError } from '../../../forge/git/git-error.ts';
import { getAgentJob } from '../../store/agent-jobs.ts';
import type { AgentRunKey } from '../../store/agent-runs.ts';
import type { Database } from '../../store/database.ts';
import { withHeartbeat } from '../with-heartbeat.ts';
import type { AgentContext } from './agent-deps.ts';
import { maskSecrets } from './mask-secrets.ts';
import { plainText } from './run-log.ts';

export type StepTools = { git: Git; signal: AbortSignal };

type StepOptions = {
  key: AgentRunKey;
  /** Shown in the Temporal UI, so it must not contain the prompt or the agent's output. */
  details: () => unknown;
};

/**
 * Runs one step of an agent job with a heartbeat every second. Each heartbeat also reads the job's row and fails the
 * step if the run was canceled or has ended: Temporal may never deliver a cancel that was accepted while it was down.
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

/** Throws a non-retryable failure if the run was canceled or has ended. */
export async function refuseOver(db: Database, { jobId, run }: AgentRunKey): Promise<void> {
  const job = await getAgentJob(db, jobId);
  if (job?.run === run && job.status === 'active' && job.cancelRequestedAt === null) return;
  throw impossible(CANCELLED);
}

/** A repository with its credentials. Throws `ForgeError`. */
export async function remoteOf({ forgeFor }: AgentContext, repository: string): Promise<Remote> {
  return { repository, credentials: await forgeFor(repository).gitCredentials(repository) };
}

/** Failure type of errors that no retry can fix. The message is for the job's owner. */
const AGENT_IMPOSSIBLE = 'AgentImpossible';

/** Failure type of errors that a retry may fix. The message is for the job's owner if all retries fail. */
export const AGENT_TROUBLE = 'AgentTrouble';

const MESSAGE_CHARACTERS = 500;
/** A longer pause is a forge's maintenance, not its rate limit. */
const LONGEST_PAUSE_MS = 3_600_000;

/** Fails the job with a sentence for its owner. */
export function impossible(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, AGENT_IMPOSSIBLE);
}

/**
 * Converts a step's error for Temporal's history: errors of git and the forge become sentences without secrets,
 * retryable if that may help. Other errors are returned unchanged.
 */
export function ownerFailure(error: unknown, secrets: readonly string[]): unknown {
  const redacted = (text: string) =>
    withoutAddresses(plainText(maskSecrets(text, secrets))).slice(0, MESSAGE_CHARACTERS);
  if (error instanceof GitError) return failure(redacted(sentence(error.message)), error.retryable, null);
  if (error instanceof ForgeError) {
    return failure(redacted(`The forge refused: ${error.message}`), error.retryable, error.retryAfterMs);
  }
  return error;
}

function failure(message: string, retryable: boolean, retryAfterMs: number | null): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: retryable ? AGENT_TROUBLE : AGENT_IMPOSSIBLE,
    nonRetryable: !retryable,
    ...(retryAfterMs !== null && { nextRetryDelay: Math.min(retryAfterMs, LONGEST_PAUSE_MS) }),
  });
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
