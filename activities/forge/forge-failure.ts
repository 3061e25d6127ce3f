import { ApplicationFailure } from '@temporalio/common';
import { ForgeError } from '../../forge/forge-error.ts';

/** `details[0]` of the failures that a workflow gets. */
type ForgeFailureDetails = { status: number | null; retryAfterMs: number | null };

/** If the forge asks for a longer wait, the next attempt asks again. */
const LONGEST_WAIT_MS = 3_600_000;
const SHORTEST_WAIT_MS = 1_000;

/**
 * Maps a forge error to a failure. `ForgeRefused` is final: the token lacks rights, or the pull request doesn't exist.
 * `ForgeUnavailable` is retried at the time that the forge names.
 */
export function forgeFailure(error: ForgeError): ApplicationFailure {
  const { status, retryable, retryAfterMs, message } = error;
  const details: ForgeFailureDetails = { status, retryAfterMs };
  if (!retryable) {
    return ApplicationFailure.create({ type: 'ForgeRefused', message, nonRetryable: true, details: [details] });
  }
  return ApplicationFailure.create({
    type: 'ForgeUnavailable',
    message,
    details: [details],
    ...(retryAfterMs === null
      ? {}
      : { nextRetryDelay: Math.min(Math.max(retryAfterMs, SHORTEST_WAIT_MS), LONGEST_WAIT_MS) }),
  });
}

/** Runs a forge call and turns a ForgeError into the activity's failure. */
export async function askForge<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof ForgeError ? forgeFailure(error) : error;
  }
}
