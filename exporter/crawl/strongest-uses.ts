import type { FoundUrl } from '../crawl-records.ts';

export type StrongestUses = {
  /** If two uses are equally strong, the first one stays. */
  add(found: FoundUrl | undefined): void;
  /** Sorted by URL, as the frontier requires. */
  list(): FoundUrl[];
};

/** Collects one report to the frontier: each URL once, with its strongest use. */
export function createStrongestUses(): StrongestUses {
  const uses = new Map<string, FoundUrl>();
  return {
    add(found) {
      if (found !== undefined && found.rank > (uses.get(found.url)?.rank ?? -1)) uses.set(found.url, found);
    },
    list: () => [...uses.values()].sort((a, b) => (a.url < b.url ? -1 : 1)),
  };
}
