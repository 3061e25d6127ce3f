import { ApplicationFailure } from '@temporalio/common';
import { withoutAddresses } from '../../../base/without-addresses.ts';
import { ForgeError } from '../../../forge/forge-error.ts';
import { GitError } from '../../../forge/git/git-error.ts';
import { maskSecrets } from './mask-secrets.ts';
import { plainText } from './run-log.ts';

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
