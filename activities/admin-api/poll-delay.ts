/** Shortest and longest pause between two polls of one job. */
const FIRST_MS = 1_000;
const LONGEST_MS = 15_000;
const GROWTH = 1.3;

/**
 * How long to wait after the given attempt (the first is 1): a second at first, growing to 15. A longer `retryAfterMs`
 * from the service wins.
 */
export function pollDelayMs(attempt: number, retryAfterMs: number | null = null): number {
  const grown = Math.min(FIRST_MS * GROWTH ** Math.max(attempt - 1, 0), LONGEST_MS);
  return Math.round(Math.max(grown, retryAfterMs ?? 0));
}
