import { ApplicationFailure } from '@temporalio/common';
import { ForgeError } from '../../../forge/forge-error.ts';
import { GitError } from '../../git/git-error.ts';
import { maskSecrets } from './mask-secrets.ts';
import { plainText } from './run-log.ts';

/** The failure type of what no retry mends. The message is for the job's owner. */
const AGENT_IMPOSSIBLE = 'AgentImpossible';

/** The failure type of what a retry may mend. The message is for the job's owner, should the retries end. */
export const AGENT_TROUBLE = 'AgentTrouble';

const MESSAGE_CHARACTERS = 500;
/** A forge may ask for a long pause; what comes later than this is its maintenance, not its limit. */
const LONGEST_PAUSE_MS = 3_600_000;

/** Ends a job with a sentence for its owner. */
export function impossible(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, AGENT_IMPOSSIBLE);
}

/**
 * What a step fails with, as Temporal shall keep it: refusals of git and of the forge as sentences without secrets, to be
 * retried where that may help. Any other error is returned as it is.
 */
export function ownerFailure(error: unknown, secrets: readonly string[]): unknown {
  const told = (text: string) => plainText(maskSecrets(text, secrets)).slice(0, MESSAGE_CHARACTERS);
  if (error instanceof GitError) return failure(told(sentence(error.message)), error.retryable, null);
  if (error instanceof ForgeError) {
    return failure(told(`The forge refused: ${error.message}`), error.retryable, error.retryAfterMs);
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
