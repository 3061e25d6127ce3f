/** How many referrers of one broken address are worth naming. */
export const MAX_REFERRERS = 20;
const MAX_ADDRESSES = 5_000;

export type BrokenLinks = {
  add(url: string, referrer: string): void;
  /** Adds what another one's `toObject` said. */
  merge(links: Readonly<Record<string, readonly string[]>>): void;
  referrersOf(url: string): readonly string[];
  /** Referrers by address. */
  toObject(): Record<string, string[]>;
};

/** Collects addresses that are referred to in vain, with some of their referrers; bounded in both. */
export function createBrokenLinks(): BrokenLinks {
  const referrers = new Map<string, string[]>();

  function add(url: string, referrer: string): void {
    const known = referrers.get(url);
    if (known === undefined) {
      if (referrers.size < MAX_ADDRESSES) referrers.set(url, [referrer]);
    } else if (known.length < MAX_REFERRERS && !known.includes(referrer)) {
      known.push(referrer);
    }
  }

  return {
    add,
    merge(links) {
      for (const [url, pages] of Object.entries(links)) for (const page of pages) add(url, page);
    },
    referrersOf: (url) => referrers.get(url) ?? [],
    toObject: () => Object.fromEntries(referrers),
  };
}
