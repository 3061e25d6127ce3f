/** So many accepted uses within any stretch of time of that length. */
export type Limit = { uses: number; windowMs: number };

export type Allowance = {
  allowed: boolean;
  /** Uses left after this one, where it is allowed. */
  remaining: number;
  /** Until the next slot frees, in whole seconds, rounded up: a caller that waits so long isn't early. */
  resetSeconds: number;
};

/**
 * Decides on one more use at `atMs`, given the accepted ones within the window before it (oldest first). A slot frees
 * the moment the use that took it is `windowMs` old.
 */
export function decideUse({ uses, windowMs }: Limit, usedAtMs: readonly number[], atMs: number): Allowance {
  const counted = usedAtMs.filter((usedAt) => usedAt > atMs - windowMs);
  const allowed = counted.length < uses;
  const nextToFree = allowed ? (counted[0] ?? atMs) : (counted[counted.length - uses] ?? atMs);
  return {
    allowed,
    remaining: allowed ? uses - counted.length - 1 : 0,
    resetSeconds: Math.max(1, Math.ceil((nextToFree + windowMs - atMs) / 1000)),
  };
}
