import type { ResourceKind } from '../document/types.ts';

/** Kinds of use by strength: an address found in several ways counts as the strongest. `endpoint` is never fetched. */
const RANKS = { probe: 1, card: 2, identity: 3, asset: 4, page: 5 } as const satisfies Partial<
  Record<ResourceKind, number>
>;

export type CrawledKind = keyof typeof RANKS;

/** Of an address that was left out, so that every other use outranks it. */
export const SKIPPED_RANK = 0;

export function rankOf(kind: CrawledKind): number {
  return RANKS[kind];
}

const KINDS: readonly CrawledKind[] = ['probe', 'card', 'identity', 'asset', 'page'];

export function kindOfRank(rank: number): CrawledKind {
  return KINDS[rank - 1] ?? 'probe';
}
