import type { FoundUrl } from '../crawl-records.ts';

export type StrongestUses = {
  /** The first of the strongest uses stays. */
  add(found: FoundUrl | undefined): void;
  /** Sorted by address, as the frontier takes them. */
  list(): FoundUrl[];
};

/** Collects what one report tells the frontier: each address once, by the strongest use of it. */
export function createStrongestUses(): StrongestUses {
  const uses = new Map<string, FoundUrl>();
  return {
    add(found) {
      if (found !== undefined && found.rank > (uses.get(found.url)?.rank ?? -1)) uses.set(found.url, found);
    },
    list: () => [...uses.values()].sort((a, b) => (a.url < b.url ? -1 : 1)),
  };
}
