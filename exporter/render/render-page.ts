import type { Logger } from 'pino';
import { readResponseDocument, refreshOf } from '../document/header-elements.ts';
import type { Resource, ScriptPolicy } from '../document/types.ts';
import { errorMessage } from '../fetch/error-code.ts';
import type { FetchedResponse } from '../fetch/fetch-result.ts';
import { BrowserGone } from './browser-pool.ts';
import { createNotices } from './notices.ts';
import { serializePage } from './serialize-page.ts';
import { PageOverdue, type ShowDeps, showPage, TabEnded } from './show-page.ts';
import { PageLeft } from './shown-document.ts';

export type RenderedPage = {
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
export async function renderPage(
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
              'could not be drawn, and is exported as the origin sent it: its scripts left no page, or too large a one',
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
        deps.logger.warn({ err: error, url }, 'A page could not be drawn');
      }
      notices.add(`could not be drawn, and is exported as the origin sent it: ${errorMessage(error).split('\n')[0]}`);
      return { html: undefined, requested: [], notices: notices.list() };
    }
  }
}
