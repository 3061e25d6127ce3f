import type { Logger } from 'pino';
import { isWrongGuess } from '../crawl/guessed-page.ts';
import { notFoundUrl } from '../crawl/not-found-page.ts';
import { rankOf } from '../crawl/resource-rank.ts';
import type { LeasedUrl } from '../crawl-records.ts';
import { documentFormat, mediaType } from '../document/document.ts';
import { refreshOf } from '../document/header-elements.ts';
import type { Resource } from '../document/types.ts';
import { isOfSite, originUrl } from '../document/url-identity.ts';
import type { AddressGuard } from '../fetch/address-guard.ts';
import type { FetchedResponse } from '../fetch/fetch-result.ts';
import type { ExportLimits } from '../limits.ts';
import type { CrawlStore, Fetcher, Renderer } from '../ports.ts';
import { cacheResponses } from '../reuse/response-cache.ts';
import type { ExportSettings } from '../settings.ts';
import { openSiteInBrowser } from './open-site.ts';
import { renderPage } from './render-page.ts';

/** Renders a page's response in a browser; undefined to keep the response as it is. */
export type RenderResponse = (
  leased: LeasedUrl,
  response: FetchedResponse,
  signal: AbortSignal,
) => Promise<{ response: FetchedResponse; requested: readonly Resource[] } | undefined>;

export type SiteRendering = {
  render: RenderResponse;
  /** Reuses responses that pages received while they were rendered. */
  fetcher: Fetcher;
  close(): Promise<void>;
};

/** Prepares to render a site's pages in a browser (`render: browser`). */
export async function renderSite(
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
function isPage({ url, rank }: LeasedUrl, { contentType }: FetchedResponse, { site }: ExportSettings): boolean {
  const isHtml = documentFormat(contentType, url) === 'html' && mediaType(contentType) !== 'application/xhtml+xml';
  return isHtml && isOfSite(url, site) && rank !== rankOf('asset') && !isWrongGuess({ url, rank, contentType });
}
