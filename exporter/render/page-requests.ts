import { setTimeout as sleep } from 'node:timers/promises';
import type { Page, Request, Route } from 'playwright-core';
import { errorMessage } from '../fetch/error-code.ts';
import type { Fetcher, FetchResult } from '../ports.ts';
import type { Resource, Site } from '../urls/identity.ts';
import { isOfSite, normalizeUrl, originUrl } from '../urls/identity.ts';
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

type PageRequestsOptions = {
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
};

/**
 * Responds to a page's requests: its document from what was already fetched, everything else through our fetcher, which
 * checks every URL. Other navigations of the window are aborted.
 */
export class PageRequests {
  readonly #options: PageRequestsOptions;
  readonly #requested = new Map<string, Resource>();
  #underWay = 0;
  #quietSince = performance.now();
  #shown = false;

  constructor(options: PageRequestsOptions) {
    this.#options = options;
  }

  async respond(route: Route): Promise<void> {
    const { page } = this.#options;
    const request = route.request();
    this.#underWay += 1;
    try {
      const frame = frameOf(request);
      // A window that the page opened, or a worker that outlives it.
      if (frame === undefined || frame.page() !== page) await route.abort('blockedbyclient');
      else if (!request.isNavigationRequest()) await this.#load(route, request);
      else if (frame === page.mainFrame()) await this.#navigateWindow(route, request);
      else await this.#navigateFrame(route, request);
    } catch {
      // The page or browser is gone, or the time is up; the caller of `showPage` gets that error.
      await route.abort('failed').catch(() => undefined);
    } finally {
      this.#underWay -= 1;
      this.#quietSince = performance.now();
    }
  }

  /** The number of requests in flight. */
  underWay(): number {
    return this.#underWay;
  }

  /** The time of the last activity. */
  quietSince(): number {
    return this.#quietSince;
  }

  /** The resources that the browser requested, to enqueue. */
  requested(): Resource[] {
    return [...this.#requested.values()];
  }

  async #navigateWindow(route: Route, request: Request): Promise<void> {
    const { document, notices } = this.#options;
    // The first navigation is the page itself.
    if (!this.#shown) {
      this.#shown = true;
      const { status, contentType, body } = document;
      await route.fulfill({ status, headers: { 'content-type': contentType }, body });
      return;
    }
    notices.add(`a script leaves the page for ${request.url()}, which is not followed`);
    await route.abort('aborted');
  }

  async #navigateFrame(route: Route, request: Request): Promise<void> {
    const { site } = this.#options;
    const url = normalizeUrl(request.url(), site);
    if (url === undefined || !isOfSite(url, site)) await route.abort('blockedbyclient');
    else await this.#fetchFor(route, url);
  }

  async #load(route: Route, request: Request): Promise<void> {
    const { site, notices } = this.#options;
    const type = request.resourceType();
    const url = normalizeUrl(request.url(), site);
    if (url === undefined) {
      notices.add(`refused: ${request.url()}`);
      await route.abort('blockedbyclient');
      return;
    }
    if (request.method() !== 'GET') {
      await this.#passOn(route, request.method(), url);
      return;
    }
    if (!isOfSite(url, site) && !NEEDED_TYPES.has(type)) {
      await route.abort('blockedbyclient');
      return;
    }
    const noted = notedRequest(type, url, site);
    if (noted !== undefined) this.#requested.set(noted.url, noted);
    // Audio and video don't affect the rendered markup; the crawl fetches them.
    if (type === 'media' || type === 'eventsource') await route.abort('aborted');
    else await this.#fetchFor(route, url);
  }

  /**
   * A rendered page may send the site any request, because its content may depend on it. A sample visit clicks without a
   * user's intent, so it may only read. Other hosts get none of these requests.
   */
  async #passOn(route: Route, method: string, url: string): Promise<void> {
    const { site, notices, mayChange } = this.#options;
    const own = isOfSite(url, site);
    if (own && method !== 'HEAD') notices.add(`asks by ${method} for ${url}, which a static host can't answer`);
    if (own && (mayChange || READING_METHODS.has(method))) await route.continue();
    else await route.abort('blockedbyclient');
  }

  async #fetchFor(route: Route, url: string): Promise<void> {
    const { site, admit, notices } = this.#options;
    const target = new URL(originUrl(url, site));
    const result = await this.#fetchWithRetries(target);
    switch (result.kind) {
      case 'response': {
        const { status, contentType, body } = result;
        await admit(target);
        await route.fulfill({ status, headers: headersFor(route, contentType), body });
        return;
      }
      case 'redirect':
        await this.#redirect(route, url, result);
        return;
      case 'failed':
        if (result.status !== null && result.status >= 400 && !result.soft) {
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

  async #redirect(route: Route, url: string, { status, location }: Redirect): Promise<void> {
    const { site, admit, notices } = this.#options;
    const next = normalizeUrl(location.href, site);
    if (next === undefined) {
      await route.abort('failed');
      return;
    }
    const target = originUrl(next, site) + location.hash;
    try {
      await admit(new URL(target));
    } catch (error) {
      notices.add(`${url} could not be loaded: ${errorMessage(error)}`);
      await route.abort('failed');
      return;
    }
    await route.fulfill({ status, headers: { ...headersFor(route, ''), location: target } });
  }

  async #fetchWithRetries(url: URL): Promise<FetchResult> {
    const { fetch, signal } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const result = await fetch(url, { signal });
      if (result.kind !== 'failed' || !result.soft || attempt === MAX_TRIES) return result;
      const waitMs = Math.max(result.retryAfterMs ?? 0, 250 * 2 ** attempt);
      if (waitMs > MAX_RETRY_MS) return result;
      await sleep(waitMs, undefined, { signal });
    }
  }
}

type Redirect = Extract<FetchResult, { kind: 'redirect' }>;

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
