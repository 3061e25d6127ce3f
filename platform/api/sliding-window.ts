/** The limit of accepted uses within any period of that length. */
export type Limit = { uses: number; windowMs: number };

export type Allowance = {
  allowed: boolean;
  /** Uses left after this one, if it is allowed. */
  remaining: number;
  /** Seconds until the next slot is free, rounded up, so that a client that waits this long isn't early. */
  resetSeconds: number;
};

/**
 * Decides on one more use at `atMs`, given the accepted ones within the window before it (oldest first). A slot becomes
 * free when its use is `windowMs` old.
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
