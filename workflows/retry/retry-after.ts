import { spreadMs } from '../../base/backoff.ts';
import type { Failure } from '../failures/read-failure.ts';

/**
 * How long to wait after a `Retry-After`, in milliseconds; 0 without one. The delay is spread, because a rate limit of an
 * organization gives all of its sites the same time.
 * @param failures failures in a row, including this one
 */
export function spreadRetryAfterMs({ retryAfterMs }: Failure, failures: number): number {
  if (retryAfterMs === null) return 0;
  // `Math.random` is deterministic in workflow code.
  return spreadMs(retryAfterMs, failures, Math.random());
}
