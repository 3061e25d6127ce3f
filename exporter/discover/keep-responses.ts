import type { FetchResult } from '../fetch/fetch-result.ts';
import type { Fetcher, FetchOptions } from '../ports.ts';

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
