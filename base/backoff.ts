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
