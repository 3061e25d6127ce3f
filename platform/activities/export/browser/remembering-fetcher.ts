import type { Fetcher, FetchResult } from '../fetch/fetcher.ts';

/** What one answer costs beside its body. */
const ENTRY_BYTES = 512;

function sizeOf(result: FetchResult): number {
  return ENTRY_BYTES + (result.kind === 'response' ? result.body.length : 0);
}

/** Whether another reader of the same export may be given this answer. */
function isLasting(result: FetchResult): boolean {
  return result.kind === 'redirect' || (result.kind === 'response' && result.status === 200);
}

/**
 * A fetcher that keeps good answers at hand, the newest up to `maxBytes`. What one page's browser asked for serves the
 * next page and the crawl itself, so drawing pages doesn't ask the origin again and again. Requests with conditions or
 * wishes of their own pass through.
 */
export function rememberAnswers(fetcher: Fetcher, maxBytes: number): Fetcher & { recall: Fetcher['get'] } {
  // A Map keeps its order of insertion, so the first key is the one used longest ago.
  const known = new Map<string, FetchResult>();
  const underWay = new Map<string, Promise<FetchResult>>();
  let total = 0;

  function forget(url: string): void {
    const old = known.get(url);
    if (old === undefined) return;
    known.delete(url);
    total -= sizeOf(old);
  }

  function remember(url: string, result: FetchResult): void {
    if (!isLasting(result) || sizeOf(result) > maxBytes / 4) return;
    forget(url);
    known.set(url, result);
    total += sizeOf(result);
    for (const oldest of known.keys()) {
      if (total <= maxBytes) return;
      forget(oldest);
    }
  }

  function recalled(url: string): FetchResult | undefined {
    const found = known.get(url);
    if (found === undefined) return undefined;
    known.delete(url);
    known.set(url, found);
    return found;
  }

  return {
    ...fetcher,

    /** As `get`, for readers that take what is at hand; those that ask for the same at once share one request. */
    async recall(url, options) {
      const found = recalled(url.href);
      if (found !== undefined) return found;
      const asked = underWay.get(url.href);
      if (asked !== undefined) {
        const shared = await asked.catch(() => undefined);
        if (shared !== undefined && isLasting(shared)) return shared;
      }
      const asking = fetcher.get(url, options);
      underWay.set(url.href, asking);
      try {
        const result = await asking;
        remember(url.href, result);
        return result;
      } finally {
        if (underWay.get(url.href) === asking) underWay.delete(url.href);
      }
    },
  };
}
