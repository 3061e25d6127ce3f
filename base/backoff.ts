/**
 * Exponential back-off. Returns the delay before the next attempt in milliseconds, given the number of failures in a row
 * (1 after the first failure).
 */
export function backoff({
  firstMs,
  maxMs,
  factor = 2,
}: {
  firstMs: number;
  maxMs: number;
  factor?: number;
}): (failures: number) => number {
  return (failures) => Math.min(firstMs * factor ** Math.max(failures - 1, 0), maxMs);
}

/** Varies a delay by up to a share of it, so that many callers don't retry at once. `random` is from 0 to 1. */
export function jitterMs(delayMs: number, share: number, random: number): number {
  return Math.round(delayMs * (1 + share * (2 * random - 1)));
}

/** Jitter adds at most this share. */
const SPREAD = 0.2;

/**
 * Adds jitter to the waits of callers that a service rejected until the same time: never shorter than `waitMs`, at most
 * a fifth longer. The more often a caller was rejected, the less is added, so that it isn't overtaken forever.
 * @param refusals how often it was rejected, at least 1
 * @param random from 0 to 1
 */
export function spreadMs(waitMs: number, refusals: number, random: number): number {
  return Math.ceil(waitMs * (1 + (SPREAD * random) / Math.max(refusals, 1)));
}
