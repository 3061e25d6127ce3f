/** Long enough for the answers of most origins to begin, and for all but large ones to end. */
const GRACE_MS = 5_000;

/** The time that a worker crawls for before the work is shared anew. */
export type Round = {
  /** Whether new work may begin. */
  takesOn(): boolean;
  /**
   * Whether what is under way is to be given back. Not while a body is coming that was on its way when the time was up:
   * it would be fetched from its beginning again, in every round anew. The round goes on until it has come.
   */
  isOver(): boolean;
  /** The body of an address begins to come. */
  bodyBegins(id: number): void;
  /** It has come, or was given up. */
  bodyEnds(id: number): void;
  /** Bodies that are coming. */
  comingCount(): number;
};

/** Begins a round of `maxMs`; `extraMs` is how much longer it lasts at a time for the bodies that are coming then. */
export function beginRound({
  maxMs,
  extraMs,
  graceMs = GRACE_MS,
  now,
}: {
  maxMs: number;
  extraMs: number;
  /** What is under way when the time is up may still come in this long. */
  graceMs?: number | undefined;
  now: () => number;
}): Round {
  let endAt = now() + maxMs;
  const coming = new Set<number>();
  /** Those that the round goes on for. */
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
      // What is left is for all workers again.
      if (awaited.delete(id) && awaited.size === 0) endAt = Math.min(endAt, now());
    },
    comingCount: () => coming.size,
  };
}
