import type { StoredAnswer } from '../crawl-records.ts';
import type { Site } from '../document/types.ts';
import { normalizeUrl, originUrl } from '../document/url-identity.ts';
import type { FetchResult } from '../fetch/fetch-result.ts';
import type { CrawlStore, Fetcher } from '../ports.ts';
import type { SegmentStore } from '../segments/segment-store.ts';

/**
 * Uses the crawl's stored responses, and requests the rest from the origin. A visit after the crawl thus costs
 * the origin only the new URLs.
 */
export function fetchFromCrawl(deps: {
  store: CrawlStore;
  segments: SegmentStore;
  jobId: string;
  site: Site;
  maxBufferedBytes: number;
  fetch: Fetcher['get'];
}): Fetcher['get'] {
  const { store, segments, jobId, site, maxBufferedBytes } = deps;

  async function read(stored: StoredAnswer): Promise<FetchResult | undefined> {
    const { outcome, status, contentType, objectKey, byteOffset, byteLength } = stored;
    if (outcome === 'redirect' && stored.redirectTo !== null) {
      return { kind: 'redirect', status: status ?? 302, location: new URL(originUrl(stored.redirectTo, site)) };
    }
    if (outcome === 'missing' && status !== null) {
      return { kind: 'failed', reason: `HTTP ${status}`, status, soft: false, retryAfterMs: undefined };
    }
    if (outcome !== 'file' || objectKey === null || byteLength > maxBufferedBytes) return undefined;
    const body = await segments.read({ objectKey, byteOffset, byteLength }, false);
    return { kind: 'response', status: status ?? 200, contentType: contentType ?? '', body };
  }

  return async (url, options) => {
    const name = normalizeUrl(url.href, site);
    const stored = name === undefined ? undefined : await store.storedAnswer(jobId, name);
    const known = stored === undefined ? undefined : await read(stored);
    return known ?? deps.fetch(url, options);
  };
}
