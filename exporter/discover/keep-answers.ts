import type { FetchResult } from '../fetch/fetch-result.ts';
import type { Fetcher, FetchOptions } from '../ports.ts';

/** Many times what robots.txt and sitemaps take; what doesn't fit is fetched again. */
const KEPT_BYTES = 32 * 1024 * 1024;

export type KeepingFetcher = Fetcher & {
  /** Whether the answer is at hand, so that `get` asks nobody. */
  has(url: URL): boolean;
};

/**
 * A fetcher that keeps what it was answered for good: what discovery has read of an origin goes into the bundle too, and
 * an origin is asked for an address once. Whoever wants what is being asked for waits for that answer. A body of more than
 * `maxBodyBytes` is only for the one who asked for it: the crawl streams such a file.
 */
export function keepAnswers(fetcher: Fetcher, maxBodyBytes: number): KeepingFetcher {
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

/** Whether an answer is the same for whoever asks, and however. */
export function isFinal(result: FetchResult): boolean {
  switch (result.kind) {
    case 'response':
    case 'redirect':
      return true;
    case 'failed':
      // A failure with no status may be of how it was asked: without a sink a large body is one.
      return !result.soft && result.status !== null && result.status >= 400;
    case 'sunk':
    case 'unchanged':
      return false;
  }
}
