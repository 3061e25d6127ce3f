/** The maximum number of referrers listed for one broken link. */
const MAX_REFERRERS = 20;
const MAX_URLS = 5_000;

export type BrokenLinks = {
  add(url: string, referrer: string): void;
  /** Adds the links from another collection's `toObject`. */
  merge(links: Readonly<Record<string, readonly string[]>>): void;
  referrersOf(url: string): readonly string[];
  /** Referrers by URL. */
  toObject(): Record<string, string[]>;
};

/** Collects broken links with some of their referrers; both are bounded. */
export function createBrokenLinks(): BrokenLinks {
  const referrers = new Map<string, string[]>();

  function add(url: string, referrer: string): void {
    const known = referrers.get(url);
    if (known === undefined) {
      if (referrers.size < MAX_URLS) referrers.set(url, [referrer]);
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
