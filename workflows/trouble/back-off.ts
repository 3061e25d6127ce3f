/** How long a failure is left alone before the next try, by what failed. `failures` counts from 1. */

export type BackOffKind =
  /** The export itself failed, or the request was refused for what it says: content or configuration has to change. */
  | 'export'
  /** The service was away or asked for rest: it will be back. */
  | 'trouble'
  /** The key or the plan was refused: a person has to act. A publish, a refresh or a restart tries sooner. */
  | 'key'
  /** The link is due and couldn't be renewed: the site is about to lose it. */
  | 'refresh'
  /** The bundle is gone: a new export was asked for and brings a new link. */
  | 'gone';

const RANGES_MS: Record<BackOffKind, { first: number; longest: number }> = {
  export: { first: 30_000, longest: 3_600_000 },
  trouble: { first: 5_000, longest: 60_000 },
  key: { first: 300_000, longest: 3_600_000 },
  refresh: { first: 5_000, longest: 60_000 },
  gone: { first: 60_000, longest: 3_600_000 },
};

/** Doubles from the kind's shortest wait to its longest. */
export function backOffMs(kind: BackOffKind, failures: number): number {
  const { first, longest } = RANGES_MS[kind];
  return Math.min(first * 2 ** Math.min(Math.max(failures - 1, 0), 20), longest);
}
