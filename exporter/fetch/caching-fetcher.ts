import { LRUCache } from 'lru-cache';
import type { Fetcher, FetchResult, ResponseCache } from '../ports.ts';

/** What a fetcher that requests each URL once caches, by URL. */
type Cache = {
  get(href: string): FetchResult | undefined;
  set(href: string, result: FetchResult): void;
  /** Whether a result may also go to other callers. */
  mayShare(result: FetchResult): boolean;
};

/** `get` of a fetcher with a cache. Concurrent calls for a URL share a request, if its result may be shared. */
function getOnceWith(fetcher: Fetcher, cache: Cache): Fetcher['get'] {
  const underWay = new Map<string, Promise<FetchResult>>();
  return async (url, options) => {
    const { href } = url;
    const known = cache.get(href);
    if (known !== undefined) return known;
    const asked = underWay.get(href);
    if (asked !== undefined) {
      // A failure is that of the other caller, whose signal may have fired.
      const shared = await asked.catch(() => undefined);
      if (shared !== undefined && cache.mayShare(shared)) return shared;
    }
    const asking = fetcher.get(url, options);
    underWay.set(href, asking);
    try {
      const result = await asking;
      if (cache.mayShare(result)) cache.set(href, result);
      return result;
    } finally {
      if (underWay.get(href) === asking) underWay.delete(href);
    }
  };
}

function bodyBytes(result: FetchResult): number {
  return result.kind === 'response' ? result.body.length : 0;
}

/** Many times the size of robots.txt and sitemaps; what doesn't fit is fetched again. */
const KEPT_BYTES = 32 * 1024 * 1024;

export type KeepingFetcher = Fetcher & {
  /** Whether the response is cached, so that `get` makes no request. */
  has(url: URL): boolean;
};

/**
 * A fetcher that caches final responses: discovery's files are part of the bundle too, so each URL is requested once.
 * A body larger than `maxBodyBytes` goes only to the caller that requested it, because the crawl streams such files.
 */
export function keepResponses(fetcher: Fetcher, maxBodyBytes: number): KeepingFetcher {
  const kept = new Map<string, FetchResult>();
  let keptBytes = 0;

  const get = getOnceWith(fetcher, {
    get: (href) => kept.get(href),
    set(href, result) {
      const sizeBytes = bodyBytes(result);
      if (keptBytes + sizeBytes > KEPT_BYTES) return;
      keptBytes += sizeBytes;
      kept.set(href, result);
    },
    mayShare: (result) => isFinal(result) && bodyBytes(result) <= maxBodyBytes,
  });
  return { ...fetcher, has: ({ href }) => kept.has(href), get };
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

/**
 * A fetcher with a cache: what one page's browser requested serves the next page and the crawl itself, so rendering
 * doesn't request the same files for every page. Failures and error pages aren't cached.
 */
export function cacheResponses(fetcher: Fetcher, cache: ResponseCache, jobId: string): Fetcher {
  const keyOf = (href: string): string => `${jobId} ${href}`;
  const get = getOnceWith(fetcher, {
    get: (href) => cache.get(keyOf(href)),
    set: (href, result) => cache.set(keyOf(href), result),
    mayShare: (result) => result.kind === 'redirect' || (result.kind === 'response' && result.status === 200),
  });
  return { ...fetcher, get };
}

/** What a response takes besides its body. */
const ENTRY_BYTES = 512;

export function createResponseCache(maxBytes: number): ResponseCache {
  const cache = new LRUCache<string, FetchResult>({
    maxSize: maxBytes,
    // One large file would push out all that pages have in common.
    maxEntrySize: Math.floor(maxBytes / 4),
    sizeCalculation: (result) => ENTRY_BYTES + bodyBytes(result),
  });
  return { get: (key) => cache.get(key), set: (key, response) => void cache.set(key, response) };
}
