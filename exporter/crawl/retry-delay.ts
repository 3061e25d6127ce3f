import type { FetchFailure } from '../fetch/failure.ts';
import { MAX_PATIENCE_MS } from '../fetch/retry-after-gate.ts';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;
/** Failed connections and overloaded origins get more attempts than error pages. */
const EXTRA_ATTEMPTS = 4;
/** Each of these attempts held a connection for as long as a response may take. */
const MAX_LATE_ATTEMPTS = 3;

/** The delay before the next attempt, in milliseconds; undefined to give up. */
export function retryDelayMs(failure: FetchFailure, attempts: number, maxAttempts: number): number | undefined {
  if (!failure.soft) return undefined;
  if (failure.late && attempts >= Math.min(maxAttempts, MAX_LATE_ATTEMPTS)) return undefined;
  const patient = failure.status === null || failure.status === 429 || failure.status === 503;
  if (attempts >= maxAttempts + (patient ? EXTRA_ATTEMPTS : 0)) return undefined;
  const askedMs = failure.retryAfterMs ?? 0;
  if (askedMs > MAX_PATIENCE_MS) return undefined;
  return Math.max(askedMs, Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1)));
}
