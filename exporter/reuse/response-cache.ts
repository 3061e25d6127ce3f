import { LRUCache } from 'lru-cache';
import type { FetchResult } from '../fetch/fetch-result.ts';
import type { Fetcher, ResponseCache } from '../ports.ts';

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
      const found = cache.get(key);
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
        if (isLasting(result)) cache.set(key, result);
        return result;
      } finally {
        if (underWay.get(key) === asking) underWay.delete(key);
      }
    },
  };
}

/** What a response takes besides its body. */
const ENTRY_BYTES = 512;

export function createResponseCache(maxBytes: number): ResponseCache {
  const cache = new LRUCache<string, FetchResult>({
    maxSize: maxBytes,
    // One large file would push out all that pages have in common.
    maxEntrySize: Math.floor(maxBytes / 4),
    sizeCalculation: (result) => ENTRY_BYTES + (result.kind === 'response' ? result.body.length : 0),
  });
  return { get: (key) => cache.get(key), set: (key, response) => void cache.set(key, response) };
}
