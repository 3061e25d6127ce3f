import { backoff, spreadMs } from '../base/backoff.ts';
import { type AdminApiError, isTemporary } from './admin-api-error.ts';

/** Every request of the client may be repeated: those that create something carry an `Idempotency-Key`. */
export type RetryPolicy = {
  /** The number of attempts, including the first; 4 by default. */
  attempts?: number;
  /** The client doesn't wait for a longer `Retry-After`, and throws the error at once; 30 s by default. */
  longestDelayMs?: number;
};

const FIRST_DELAY_MS = 200;
const GROWTH = 3;

/**
 * How long to wait before the next attempt, with jitter; undefined if there is none.
 * @param failedAttempts at least 1
 */
export function requestRetryDelayMs(
  error: AdminApiError,
  failedAttempts: number,
  { attempts = 4, longestDelayMs = 30_000 }: RetryPolicy,
): number | undefined {
  if (!(failedAttempts < attempts) || !isTemporary(error)) return undefined;
  const retryAfterMs = error.retryAfterMs ?? 0;
  if (!(retryAfterMs <= longestDelayMs)) return undefined;
  const grownMs = backoff({ firstMs: FIRST_DELAY_MS, factor: GROWTH, maxMs: longestDelayMs })(failedAttempts);
  return spreadMs(Math.max(grownMs, retryAfterMs), failedAttempts, Math.random());
}
