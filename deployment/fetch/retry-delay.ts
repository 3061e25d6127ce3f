import { backoff, jitterMs } from '../../base/backoff.ts';
import { BundleInvalidError, BundleUnavailableError } from '../../bundle/errors.ts';
import { VersionPinnedError } from '../errors.ts';

const MINUTE_MS = 60_000;
const JITTER = 0.1;

export type RetryPauses = { soonBaseMs: number; soonMaxMs: number; slowlyMs: number; invalidMs: number };

export const RETRY_PAUSES: RetryPauses = {
  soonBaseMs: 1_000,
  soonMaxMs: MINUTE_MS,
  // An expired link or another version than the pinned one needs a new values file, which is watched.
  slowlyMs: 5 * MINUTE_MS,
  // The same bytes fail again; only a transfer error or a repaired server makes a retry useful.
  invalidMs: 10 * MINUTE_MS,
};

/**
 * How long to wait before retrying the same link, in milliseconds.
 * @param failures failed attempts in a row, including this one
 * @param random 0 to 1, spreads many deployments over time
 */
export function linkRetryDelayMs(error: unknown, failures: number, random: number, pauses = RETRY_PAUSES): number {
  if (error instanceof BundleInvalidError) return jitterMs(pauses.invalidMs, JITTER, random);
  const isSlow = error instanceof BundleUnavailableError && error.pace === 'slowly';
  if (isSlow || error instanceof VersionPinnedError) return jitterMs(pauses.slowlyMs, JITTER, random);
  const grownMs = backoff({ firstMs: pauses.soonBaseMs, maxMs: pauses.soonMaxMs })(failures);
  const asked = error instanceof BundleUnavailableError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(jitterMs(grownMs, JITTER, random), Math.min(asked, pauses.slowlyMs));
}
