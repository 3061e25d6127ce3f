/** Long enough for most origins to start a response and to finish all but large ones. */
const GRACE_MS = 5_000;

/** The time for which a worker crawls before the work is shared again. */
export type Round = {
  /** Whether new work may begin. */
  takesOn(): boolean;
  /**
   * Whether to release what is pending. Not while a body is arriving that had started when the time was up: a retry
   * would start from the beginning, and again be too slow. The round is extended until it is complete.
   */
  isOver(): boolean;
  /** The body of a URL starts to arrive. */
  bodyBegins(id: number): void;
  /** It is complete, or was given up. */
  bodyEnds(id: number): void;
  /** The number of bodies that are arriving. */
  comingCount(): number;
};

/** Starts a round of `maxMs`. `extraMs` is how much it is extended at a time while bodies are arriving. */
export function beginRound({
  maxMs,
  extraMs,
  graceMs = GRACE_MS,
  now,
}: {
  maxMs: number;
  extraMs: number;
  /** How long pending requests may continue when the time is up. */
  graceMs?: number | undefined;
  now: () => number;
}): Round {
  let endAt = now() + maxMs;
  const coming = new Set<number>();
  /** The bodies that the round is extended for. */
  const awaited = new Set<number>();
  return {
    takesOn: () => now() < endAt,
    isOver() {
      if (now() < endAt + graceMs) return false;
      for (const id of coming) awaited.add(id);
      if (awaited.size === 0) return true;
      endAt = now() + extraMs;
      return false;
    },
    bodyBegins: (id) => coming.add(id),
    bodyEnds(id) {
      coming.delete(id);
      // No awaited body is left: the round ends, and other workers may take the rest.
      if (awaited.delete(id) && awaited.size === 0) endAt = Math.min(endAt, now());
    },
    comingCount: () => coming.size,
  };
}
