import type { FetchResult } from '../fetch/fetch-result.ts';
import type { Fetcher } from '../ports.ts';

/** Whether the same response may be used again in the same export. */
function isLasting(result: FetchResult): boolean {
  return result.kind === 'redirect' || (result.kind === 'response' && result.status === 200);
}

/**
 * A fetcher with a cache: what one page's browser requested serves the next page and the crawl itself, so rendering
 * doesn't request the same files for every page. Concurrent requests for one URL share a response.
 */
export function cacheResponses(fetcher: Fetcher, cache: ResponseCache, jobId: string): Fetcher {
  const underWay = new Map<string, Promise<FetchResult>>();

  return {
    ...fetcher,

    async get(url, options) {
      const key = `${jobId} ${url.href}`;
      const found = cache.recall(key);
      if (found !== undefined) return found;
      const asked = underWay.get(key);
      if (asked !== undefined) {
        const shared = await asked.catch(() => undefined);
        if (shared !== undefined && isLasting(shared)) return shared;
      }
      const asking = fetcher.get(url, options);
      underWay.set(key, asking);
      try {
        const result = await asking;
        if (isLasting(result)) cache.remember(key, result);
        return result;
      } finally {
        if (underWay.get(key) === asking) underWay.delete(key);
      }
    },
  };
}

/** Successful responses by export and URL: the most recently used, up to a number of bytes. */
export type ResponseCache = {
  recall(key: string): FetchResult | undefined;
  remember(key: string, result: FetchResult): void;
};

/** What a response takes besides its body. */
const ENTRY_BYTES = 512;

function sizeOf(result: FetchResult): number {
  return ENTRY_BYTES + (result.kind === 'response' ? result.body.length : 0);
}

export function createResponseCache(maxBytes: number): ResponseCache {
  // A Map keeps its order of insertion, so the first key is the one used longest ago.
  const known = new Map<string, FetchResult>();
  let total = 0;

  function forget(key: string): void {
    const old = known.get(key);
    if (old === undefined) return;
    known.delete(key);
    total -= sizeOf(old);
  }

  return {
    recall(key) {
      const found = known.get(key);
      if (found === undefined) return undefined;
      known.delete(key);
      known.set(key, found);
      return found;
    },

    remember(key, result) {
      // One large file would push out all that pages have in common.
      if (sizeOf(result) > maxBytes / 4) return;
      forget(key);
      known.set(key, result);
      total += sizeOf(result);
      for (const oldest of known.keys()) {
        if (total <= maxBytes) return;
        forget(oldest);
      }
    },
  };
}
