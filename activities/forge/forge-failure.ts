import { ApplicationFailure } from '@temporalio/common';
import { ForgeError } from '../../forge/forge-error.ts';

/** What a failed activity of this folder tells the workflow: the `type` of its ApplicationFailure. */
export type ForgeFailureType =
  /** The forge will answer the same again: a token without rights, a pull request that isn't there. */
  | 'ForgeRefused'
  /** The forge can't be reached, or asks for time. Retried by Temporal. */
  | 'ForgeUnavailable'
  /** No forge is configured. */
  | 'NoForge';

/** `details[0]` of the first two. */
export type ForgeFailureDetails = { status: number | null; retryAfterMs: number | null };

/** Waiting longer than this for a forge that asked for rest is left to the next attempt. */
const LONGEST_WAIT_MS = 3_600_000;
const SHORTEST_WAIT_MS = 1_000;

/** Makes of a forge's error what Temporal retries, at the time that the forge named, or doesn't. */
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

/** Runs a call to a forge; its ForgeError becomes the activity's failure. */
export async function askForge<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof ForgeError ? forgeFailure(error) : error;
  }
}
