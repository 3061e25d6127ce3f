import type { Logger } from 'pino';
import type { LeasedUrl } from '../crawl-records.ts';
import { documentFormat } from '../document/document.ts';
import { readResponseDocument, refreshOf } from '../document/header-elements.ts';
import type { AddressGuard, GuardFor } from '../fetch/address-guard.ts';
import { cacheResponses } from '../fetch/caching-fetcher.ts';
import { errorMessage } from '../fetch/error-code.ts';
import type { ExportLimits } from '../limits.ts';
import type { CrawlStore, FetchedResponse, Fetcher, Renderer } from '../ports.ts';
import type { ExportSettings, ScriptPolicy } from '../settings.ts';
import { mediaType, notFoundUrl } from '../urls/assign-path.ts';
import type { Resource } from '../urls/identity.ts';
import { isOfSite, originUrl } from '../urls/identity.ts';
import { isWrongGuess, rankOf } from '../urls/resource-rank.ts';
import { BrowserGone } from './browser-pool.ts';
import { needBrowser } from './find-browser.ts';
import { createNotices } from './notices.ts';
import { serializePage } from './serialize-page.ts';
import { openSiteInBrowser, PageOverdue, type ShowDeps, showPage, TabEnded } from './show-page.ts';
import { PageLeft } from './shown-document.ts';

/** Renders a page's response in a browser; undefined to keep the response as it is. */
export type RenderResponse = (
  leased: LeasedUrl,
  response: FetchedResponse,
  signal: AbortSignal,
) => Promise<{ response: FetchedResponse; requested: readonly Resource[] } | undefined>;

type SiteRendering = {
  render: RenderResponse;
  /** Reuses responses that pages received while they were rendered. */
  fetcher: Fetcher;
  close(): Promise<void>;
};

/** A crawl's rendering. It handles fewer URLs at a time, because each waits for a browser context. */
export type Rendering = SiteRendering & { limits: ExportLimits; graceMs: number };

/** Opens the browser for a crawl (`render: browser`). */
export async function openRendering(
  deps: {
    store: CrawlStore;
    logger: Logger;
    limits: ExportLimits;
    renderer: Renderer | undefined;
    guardFor: GuardFor;
  },
  settings: ExportSettings,
  fetcher: Fetcher,
): Promise<Rendering> {
  const pool = await needBrowser(deps.renderer);
  const site = await renderSite({ ...deps, guard: deps.guardFor(settings), fetcher, pool }, settings);
  const { pagesAtOnce, pageTimeoutMs } = pool.limits;
  const maxConcurrency = Math.min(deps.limits.maxConcurrency, 2 * pagesAtOnce);
  return { ...site, limits: { ...deps.limits, maxConcurrency }, graceMs: 2 * pageTimeoutMs };
}

async function renderSite(
  deps: {
    store: CrawlStore;
    logger: Logger;
    limits: ExportLimits;
    guard: AddressGuard;
    fetcher: Fetcher;
    pool: Renderer;
  },
  settings: ExportSettings,
): Promise<SiteRendering> {
  const { store, logger, limits, guard, pool } = deps;
  const { jobId, site, scripts } = settings;
  const caching = cacheResponses(deps.fetcher, pool.responses, jobId);
  const options = { pool, guard, site, fetch: caching.get, maxBytes: limits.maxFileBytes, logger };
  const shown = await openSiteInBrowser(options);

  async function render(leased: LeasedUrl, response: FetchedResponse, signal: AbortSignal) {
    if (!isPage(leased, response, settings)) return undefined;
    const { url } = leased;
    const path = url === notFoundUrl(site) ? null : new URL(url).pathname;
    const rendered = await renderPage(
      { ...shown, logger, maxLength: limits.maxBufferedBytes },
      { url: originUrl(url, site), response, scripts, path, signal },
    );
    await store.addNotices({ jobId, url, texts: rendered.notices });
    if (rendered.html === undefined) return undefined;
    const made = { contentType: 'text/html; charset=utf-8', body: rendered.html, rendered: true as const };
    // The other elements are already in the rendered markup.
    const headElements = refreshOf(response.headElements ?? '');
    return { response: { ...response, ...made, headElements }, requested: rendered.requested };
  }

  return { render, fetcher: caching, close: shown.close };
}

/**
 * Whether a response is a page to render: HTML of the site. Not fragments that scripts fetch, not an origin's
 * catch-all page for missing files, and not XHTML, which a browser would serialize as HTML.
 */
function isPage({ url, rank }: LeasedUrl, response: FetchedResponse, { site }: ExportSettings): boolean {
  const { contentType, attachment } = response;
  if (attachment === true) return false;
  const isHtml = documentFormat(contentType, url) === 'html' && mediaType(contentType) !== 'application/xhtml+xml';
  return isHtml && isOfSite(url, site) && rank !== rankOf('asset') && !isWrongGuess({ url, rank, contentType });
}

type RenderedPage = {
  /** The rendered page; undefined if rendering failed, with the reason in the notices. */
  html: Buffer | undefined;
  /** The resources that the browser requested. */
  requested: Resource[];
  notices: string[];
};

/** A browser may crash through no fault of the page, so the page gets several attempts. */
const MAX_BROWSERS = 4;

/**
 * Renders a page: loads the origin's response in a browser, waits until its scripts are idle, and returns the
 * resulting markup. A page whose tab ends is retried. Throws only for the signal.
 */
async function renderPage(
  deps: ShowDeps & { logger: Logger; maxLength: number },
  input: {
    /** The page's URL at the origin. */
    url: string;
    response: FetchedResponse;
    scripts: ScriptPolicy;
    /** The page's original path, null for the not-found page. */
    path: string | null;
    signal: AbortSignal;
  },
): Promise<RenderedPage> {
  const { url, response, scripts, path, signal } = input;
  const { limits } = deps.pool;
  const elements = response.headElements ?? '';
  // In UTF-8, like the rendered page. Header elements are included, because styles may affect what scripts render,
  // except a refresh, which would leave the page.
  const { bytes, contentType } = readResponseDocument(
    { bytes: response.body, contentType: response.contentType, url },
    elements.slice(refreshOf(elements).length),
    deps.site,
  );
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const document = { url, status: response.status, contentType, body };
  const originHtml = body.toString('utf8');
  let tabs = 0;
  let browsers = 0;

  while (true) {
    const notices = createNotices();
    try {
      return await showPage(
        deps,
        { document, notices, mayChange: true, signal, timeoutMs: limits.pageTimeoutMs },
        async (shown): Promise<RenderedPage> => {
          const text = await serializePage(shown, { originHtml, scripts, path, maxLength: deps.maxLength });
          if (text === undefined)
            notices.add(
              'could not be rendered, and is exported as the origin sent it: its scripts left no page, or too large a one',
            );
          const html = text === undefined ? undefined : Buffer.from(text);
          return { html, requested: shown.requests.requested(), notices: notices.list() };
        },
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BrowserGone) browsers += 1;
      else if (error instanceof TabEnded) tabs += 1;
      const again =
        error instanceof BrowserGone ? browsers < MAX_BROWSERS : error instanceof TabEnded && tabs < limits.maxTries;
      if (again) continue;
      if (![PageOverdue, PageLeft, TabEnded].some((known) => error instanceof known)) {
        deps.logger.warn({ err: error, url }, 'A page could not be rendered');
      }
      notices.add(
        `could not be rendered, and is exported as the origin sent it: ${errorMessage(error).split('\n')[0]}`,
      );
      return { html: undefined, requested: [], notices: notices.list() };
    }
  }
}
