import { setTimeout as sleep } from 'node:timers/promises';
import type { Page, Request, Route } from 'playwright-core';
import { errorMessage } from '../fetch/error-code.ts';
import type { Fetcher, FetchResult } from '../ports.ts';
import { isOfSite, normalizeUrl, originUrl } from '../urls/identity.ts';
import type { Resource, Site } from '../urls/types.ts';
import type { Notices } from './notices.ts';

/** A document as fetched from the origin, which the browser shows without another request. */
export type OriginDocument = {
  /** Its URL at the origin. */
  url: string;
  status: number;
  contentType: string;
  body: Buffer;
};

/** Resource types from other hosts that affect how a page looks. */
const NEEDED_TYPES: ReadonlySet<string> = new Set([
  'stylesheet',
  'script',
  'image',
  'font',
  'fetch',
  'xhr',
  'manifest',
  'texttrack',
  'other',
]);
const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Temporary failures are retried, because a page rendered without its data looks complete but is empty. */
const MAX_TRIES = 4;
const MAX_RETRY_MS = 5_000;

export type PageRequests = {
  respond(route: Route): Promise<void>;
  /** The number of requests in flight, and the time of the last activity. */
  underWay(): number;
  quietSince(): number;
  /** The resources that the browser requested, to enqueue. */
  requested(): Resource[];
};

/**
 * Responds to a page's requests: its document from what was already fetched, everything else through our fetcher, which
 * checks every URL. Other navigations of the window are aborted.
 */
export function createPageRequests(options: {
  page: Page;
  site: Site;
  document: OriginDocument;
  fetch: Fetcher['get'];
  /** Lets the proxy admit this URL's origin. Throws if the URL may not be requested. */
  admit: (url: URL) => Promise<void>;
  notices: Notices;
  /** Whether the page may send the site requests that change something. */
  mayChange: boolean;
  signal: AbortSignal;
}): PageRequests {
  const { page, site, document, notices, signal } = options;
  const requested = new Map<string, Resource>();
  let underWay = 0;
  let quietSince = performance.now();
  let shown = false;

  async function navigate(route: Route, request: Request, isMain: boolean): Promise<void> {
    // The first navigation is the page itself.
    if (isMain && !shown) {
      shown = true;
      await route.fulfill({
        status: document.status,
        headers: { 'content-type': document.contentType },
        body: document.body,
      });
      return;
    }
    if (isMain) {
      notices.add(`a script leaves the page for ${request.url()}, which is not followed`);
      await route.abort('aborted');
      return;
    }
    const url = normalizeUrl(request.url(), site);
    if (url === undefined || !isOfSite(url, site)) await route.abort('blockedbyclient');
    else await fetchFor(route, url);
  }

  async function load(route: Route, request: Request): Promise<void> {
    const url = normalizeUrl(request.url(), site);
    if (url === undefined) {
      notices.add(`refused: ${request.url()}`);
      await route.abort('blockedbyclient');
      return;
    }
    const method = request.method();
    const own = isOfSite(url, site);
    if (method !== 'GET') {
      if (own && method !== 'HEAD') notices.add(`asks by ${method} for ${url}, which a static host can't answer`);
      // A rendered page may send the site any request, because its content may depend on it. A sample visit clicks
      // without a user's intent, so it may only read. Other hosts get none of these requests.
      if (own && (options.mayChange || READING_METHODS.has(method))) await route.continue();
      else await route.abort('blockedbyclient');
      return;
    }
    if (!own && !NEEDED_TYPES.has(request.resourceType())) {
      await route.abort('blockedbyclient');
      return;
    }
    const noted = notedRequest(request.resourceType(), url, site);
    if (noted !== undefined) requested.set(noted.url, noted);
    // Audio and video don't affect the rendered markup; the crawl fetches them.
    if (request.resourceType() === 'media' || request.resourceType() === 'eventsource') await route.abort('aborted');
    else await fetchFor(route, url);
  }

  async function fetchFor(route: Route, url: string): Promise<void> {
    const target = new URL(originUrl(url, site));
    const result = await fetchWithRetries(target);
    switch (result.kind) {
      case 'response':
        await options.admit(target);
        await route.fulfill({
          status: result.status,
          headers: headersFor(route, result.contentType),
          body: result.body,
        });
        return;
      case 'redirect': {
        const next = normalizeUrl(result.location.href, site);
        if (next === undefined) break;
        const location = originUrl(next, site) + result.location.hash;
        try {
          await options.admit(new URL(location));
        } catch (error) {
          notices.add(`${url} could not be loaded: ${errorMessage(error)}`);
          break;
        }
        await route.fulfill({ status: result.status, headers: { ...headersFor(route, ''), location } });
        return;
      }
      case 'failed':
        if (result.status !== null && !result.soft) {
          await route.fulfill({ status: result.status, headers: headersFor(route, 'text/plain'), body: '' });
          return;
        }
        notices.add(`${url} could not be loaded: ${result.reason}`);
        break;
      case 'sunk':
        break;
    }
    await route.abort('failed');
  }

  async function fetchWithRetries(url: URL): Promise<FetchResult> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await options.fetch(url, { signal });
      if (result.kind !== 'failed' || !result.soft || attempt === MAX_TRIES) return result;
      const waitMs = Math.max(result.retryAfterMs ?? 0, 250 * 2 ** attempt);
      if (waitMs > MAX_RETRY_MS) return result;
      await sleep(waitMs, undefined, { signal });
    }
  }

  return {
    async respond(route) {
      const request = route.request();
      underWay += 1;
      try {
        const frame = frameOf(request);
        // A window that the page opened, or a worker that outlives it.
        if (frame === undefined || frame.page() !== page) await route.abort('blockedbyclient');
        else if (request.isNavigationRequest()) await navigate(route, request, frame === page.mainFrame());
        else await load(route, request);
      } catch {
        // The page or browser is gone, or the time is up; the caller of `showPage` gets that error.
        await route.abort('failed').catch(() => undefined);
      } finally {
        underWay -= 1;
        quietSince = performance.now();
      }
    },
    underWay: () => underWay,
    quietSince: () => quietSince,
    requested: () => [...requested.values()],
  };
}

function frameOf(request: Request) {
  try {
    return request.frame();
  } catch {
    return undefined;
  }
}

/** CORS headers for any origin: safe, because the fetcher sends no cookies or credentials of a visitor. */
function headersFor(route: Route, contentType: string): Record<string, string> {
  const origin = route.request().headers().origin ?? '*';
  return {
    ...(contentType !== '' && { 'content-type': contentType }),
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    // All pages share our own response cache, so the browser needs none.
    'cache-control': 'no-store',
  };
}

/**
 * Types of files from other hosts to bundle when the browser requests them. Not data, whose URLs scripts compose. Not
 * images: visible ones are in the markup or styles, and the rest are tracking pixels with a new URL each time.
 */
const BUNDLED_TYPES: ReadonlySet<string> = new Set(['stylesheet', 'script', 'font']);

/** The resource that a browser's request adds to the export, if any. `type` is Playwright's, `url` a public URL. */
export function notedRequest(type: string, url: string, site: Site): Resource | undefined {
  if (!isOfSite(url, site)) return BUNDLED_TYPES.has(type) ? { url, kind: 'asset' } : undefined;
  // Scripts request it by a URL that is never rewritten, so it keeps its exact name. Static hosts ignore the query.
  return { url: url.replace(/\?.*$/, ''), kind: 'probe' };
}
