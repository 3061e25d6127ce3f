import type { ResourceKind } from './identity.ts';

/** Kinds of use by strength: a URL found in several ways has the strongest one. `endpoint` is never fetched. */
const RANKS = { guess: 0, probe: 1, card: 2, identity: 3, asset: 4, page: 5 } as const satisfies Partial<
  Record<ResourceKind, number>
>;

export type CrawledKind = keyof typeof RANKS;

/** The rank of a skipped URL, below that of every other use. */
export const SKIPPED_RANK = -1;

export function rankOf(kind: CrawledKind): number {
  return RANKS[kind];
}

const KINDS: readonly CrawledKind[] = ['guess', 'probe', 'card', 'identity', 'asset', 'page'];

export function kindOfRank(rank: number): CrawledKind {
  return KINDS[rank] ?? 'probe';
}

const OTHER_EXTENSION = /\.(?!html?$|xhtml$|php$)[a-z0-9]{1,5}$/i;

/** True if a URL guessed from a script only returned the page that the origin sends for every missing resource. */
export function isWrongGuess(row: { url: string; rank: number; contentType: string | null }): boolean {
  if (row.rank > rankOf('probe') || !/^\s*text\/html/i.test(row.contentType ?? '')) return false;
  return OTHER_EXTENSION.test(new URL(row.url).pathname);
}
