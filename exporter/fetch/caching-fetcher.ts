import { LRUCache } from 'lru-cache';
import type { Fetcher, FetchOptions, ResponseCache } from '../ports.ts';
import type { FetchResult } from './fetch-result.ts';

/** Many times the size of robots.txt and sitemaps; what doesn't fit is fetched again. */
const KEPT_BYTES = 32 * 1024 * 1024;

export type KeepingFetcher = Fetcher & {
  /** Whether the response is cached, so that `get` makes no request. */
  has(url: URL): boolean;
};

/**
 * A fetcher that caches final responses: discovery's files are part of the bundle too, so each URL is requested once.
 * Concurrent calls for a URL share a request. A body larger than `maxBodyBytes` goes only to the caller that requested
 * it, because the crawl streams such files.
 */
export function keepResponses(fetcher: Fetcher, maxBodyBytes: number): KeepingFetcher {
  const kept = new Map<string, FetchResult>();
  const underWay = new Map<string, Promise<FetchResult>>();
  let keptBytes = 0;

  function sizeOf(result: FetchResult): number {
    return result.kind === 'response' ? result.body.length : 0;
  }

  function mayBeShared(result: FetchResult): boolean {
    return isFinal(result) && sizeOf(result) <= maxBodyBytes;
  }

  async function ask(url: URL, options: FetchOptions): Promise<FetchResult> {
    const asking = fetcher.get(url, options);
    underWay.set(url.href, asking);
    try {
      return await asking;
    } finally {
      underWay.delete(url.href);
    }
  }

  return {
    ...fetcher,
    has: (url) => kept.has(url.href),
    get: async (url, options) => {
      const known = kept.get(url.href) ?? (await underWay.get(url.href));
      if (known !== undefined && mayBeShared(known)) return known;
      const result = await ask(url, options);
      const sizeBytes = sizeOf(result);
      if (mayBeShared(result) && keptBytes + sizeBytes <= KEPT_BYTES) {
        keptBytes += sizeBytes;
        kept.set(url.href, result);
      }
      return result;
    },
  };
}

/** Whether a response is the same for every caller and every kind of request. */
export function isFinal(result: FetchResult): boolean {
  switch (result.kind) {
    case 'response':
    case 'redirect':
      return true;
    case 'failed':
      // A failure without a status may depend on the request: without a sink a large body fails.
      return !result.soft && result.status !== null && result.status >= 400;
    case 'sunk':
    case 'unchanged':
      return false;
  }
}

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
