import type { StoredResponse } from '../crawl-records.ts';
import type { GuardFor } from '../fetch/address-guard.ts';
import { errorMessage } from '../fetch/error-code.ts';
import type { FetcherFor } from '../fetch/fetcher.ts';
import type { CrawlStore, Fetcher, FetchResult, Renderer } from '../ports.ts';
import { BrowserGone } from '../render/browser-pool.ts';
import { BROWSER_MISSING } from '../render/find-browser.ts';
import { createNotices } from '../render/notices.ts';
import type { PageRequests } from '../render/page-requests.ts';
import { openSiteInBrowser, type ShowDeps, showPage } from '../render/show-page.ts';
import { tryPage } from '../render/try-sample.ts';
import { readCrawl } from '../settings.ts';
import type { StageDeps } from '../stage.ts';
import type { SegmentStore } from '../store/segment-store.ts';
import type { Resource, Site } from '../urls/identity.ts';
import { normalizeUrl, originUrl } from '../urls/identity.ts';
import { createCrawlScope } from './crawl-scope.ts';
import { createStrongestUses, enqueueUrls } from './report-urls.ts';

type SampleDeps = StageDeps & {
  segments: SegmentStore;
  fetcherFor: FetcherFor;
  guardFor: GuardFor;
  renderer: Renderer | undefined;
};

type VisitedSamples = {
  sampleCount: number;
  /** URLs queued now, including those that an earlier attempt enqueued. */
  foundCount: number;
};

/** The number of pages to choose samples from. */
const MAX_CANDIDATES = 5_000;

/**
 * Visits sample pages of a finished crawl in a browser and enqueues the URLs that their scripts requested and the
 * crawl lacks. Other requests are served from the crawl's stored responses. Without a browser the report says so,
 * and the export continues.
 */
export async function visitSamples(deps: SampleDeps, jobId: string): Promise<VisitedSamples> {
  const { store, limits, logger, renderer } = deps;
  let sampleCount = 0;
  const details = () => ({ samples: sampleCount });
  return deps.runStage({ jobId, details }, async ({ signal }) => {
    const crawl = await readCrawl(store, jobId);
    if (crawl.phase !== 'crawling') return { sampleCount, foundCount: 0 };
    const { settings } = crawl;
    const trouble = renderer === undefined ? { text: BROWSER_MISSING } : await renderer.trouble();
    if (renderer === undefined || trouble !== undefined) {
      const text = `no sample pages were visited (discover: browser): ${trouble?.text}`;
      await store.addNotices({ jobId, url: null, texts: [text] });
      return { sampleCount, foundCount: await countQueued() };
    }
    const pages = chooseSamples(await store.crawledPages(jobId, MAX_CANDIDATES), renderer.limits.maxSamples);
    const counts = await store.scopeCounts(jobId);
    const fetcher = deps.fetcherFor(settings);
    const { maxBufferedBytes, maxFileBytes: maxBytes } = limits;
    const { segments, guardFor } = deps;
    const { site } = settings;
    const fetch = fetchFromCrawl({ store, segments, jobId, site, maxBufferedBytes, fetch: fetcher.get });
    const shown = await openSiteInBrowser({ pool: renderer, guard: guardFor(settings), site, fetch, maxBytes, logger });
    const scope = createCrawlScope({ settings, limits, urlCount: crawl.urlCount, ...counts });
    const uses = createStrongestUses();

    async function visitOne(url: string): Promise<void> {
      for (const resource of await visitPage({ store, jobId, shown }, url, signal)) {
        uses.add(scope.admit(resource, { url, depth: 0 }));
      }
      sampleCount += 1;
    }

    try {
      await Promise.all(pages.map(visitOne));
    } finally {
      await shown.close();
      void fetcher.close();
    }
    await enqueueUrls(store, { jobId, token: '', leaseMs: limits.leaseMs }, uses.list());
    const foundCount = await countQueued();
    logger.info({ jobId, sampleCount, foundCount }, 'Sample pages were visited in a browser');
    return { sampleCount, foundCount };
  });

  /** The crawl had finished, so all queued URLs come from this visit or an interrupted one. */
  async function countQueued(): Promise<number> {
    return (await store.frontierRest(jobId)).queuedCount;
  }
}

/** The requests of one page. A page that can't be visited is left out, and the report says so. */
async function visitPage(
  { store, jobId, shown }: { store: CrawlStore; jobId: string; shown: ShowDeps },
  url: string,
  signal: AbortSignal,
): Promise<Resource[]> {
  const { loadTimeoutMs, quietTimeoutMs, sampleMs, maxTries } = shown.pool.limits;
  const requestUrl = originUrl(url, shown.site);
  let requests: PageRequests | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const fetched = await shown.fetch(new URL(requestUrl), { signal });
      if (fetched.kind !== 'response') return [];
      const { status, contentType, body } = fetched;
      return await showPage(
        shown,
        {
          document: { url: requestUrl, status, contentType, body },
          // Failures during a visit don't affect the export, so they aren't reported.
          notices: createNotices(),
          mayChange: false,
          signal,
          onOpen: (opened) => {
            requests = opened;
          },
          timeoutMs: loadTimeoutMs + quietTimeoutMs + 2 * sampleMs,
        },
        async (page) => {
          await tryPage(page, Date.now() + sampleMs);
          return page.requests.requested();
        },
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BrowserGone && attempt < maxTries) continue;
      const text = `could not be visited in a browser: ${errorMessage(error).split('\n')[0]}`;
      await store.addNotices({ jobId, url, texts: [text] });
      // Keeps the requests made before the failure.
      return requests?.requested() ?? [];
    }
  }
}

/**
 * Picks one page of each kind. The first path segment and the number of segments identify a kind. The start page comes
 * first, then the kinds with the most pages.
 */
export function chooseSamples(urls: readonly string[], maxCount: number): string[] {
  const kinds = new Map<string, string[]>();
  for (const url of urls) {
    const kind = kindOf(url);
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, [url]);
    else known.push(url);
  }
  const start = kinds.get(START) ?? [];
  kinds.delete(START);
  const others = [...kinds.values()].sort((a, b) => b.length - a.length);
  const firsts = [start, ...others].flatMap(([first]) => first ?? []);
  // Remaining places go to a second page of each kind.
  const seconds = others.flatMap(([, second]) => second ?? []);
  return [...firsts, ...seconds].slice(0, maxCount);
}

const START = '/';

function kindOf(url: string): string {
  const segments = new URL(url).pathname.split('/').filter((segment) => segment !== '');
  if (segments.length === 0) return START;
  return segments.length === 1 ? '1' : `${segments.length} ${segments[0]}`;
}

/**
 * Uses the crawl's stored responses, and requests the rest from the origin. A visit after the crawl thus costs
 * the origin only the new URLs.
 */
function fetchFromCrawl(deps: {
  store: CrawlStore;
  segments: SegmentStore;
  jobId: string;
  site: Site;
  maxBufferedBytes: number;
  fetch: Fetcher['get'];
}): Fetcher['get'] {
  const { store, segments, jobId, site, maxBufferedBytes } = deps;

  async function read(stored: StoredResponse): Promise<FetchResult | undefined> {
    const { outcome, status, contentType, objectKey, byteOffset, byteLength } = stored;
    if (outcome === 'redirect' && stored.redirectTo !== null) {
      return { kind: 'redirect', status: status ?? 302, location: new URL(originUrl(stored.redirectTo, site)) };
    }
    if (outcome === 'missing' && status !== null && status >= 400) {
      return { kind: 'failed', reason: `HTTP ${status}`, status, soft: false, retryAfterMs: undefined };
    }
    if (outcome !== 'file' || objectKey === null || byteLength > maxBufferedBytes) return undefined;
    const body = await segments.read({ objectKey, byteOffset, byteLength }, false);
    return { kind: 'response', status: status ?? 200, contentType: contentType ?? '', body };
  }

  return async (url, options) => {
    const name = normalizeUrl(url.href, site);
    const stored = name === undefined ? undefined : await store.storedResponse(jobId, name);
    const known = stored === undefined ? undefined : await read(stored);
    return known ?? deps.fetch(url, options);
  };
}
