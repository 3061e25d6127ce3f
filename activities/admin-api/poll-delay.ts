import { backoff } from '../../base/backoff.ts';

const grownMs = backoff({ firstMs: 1_000, maxMs: 15_000, factor: 1.3 });

/**
 * How long to wait after the given attempt (the first is 1): a second at first, growing to 15. A longer `retryAfterMs`
 * from the service wins.
 */
export function pollDelayMs(attempt: number, retryAfterMs: number | null = null): number {
  return Math.round(Math.max(grownMs(attempt), retryAfterMs ?? 0));
}
