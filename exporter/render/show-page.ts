import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { type AddressGuard, portOf } from '../fetch/address-guard.ts';
import type { BrowserLimits } from '../limits.ts';
import type { Fetcher, Renderer } from '../ports.ts';
import type { Site } from '../urls/identity.ts';
import { startFilteringProxy } from './filtering-proxy.ts';
import type { Notices } from './notices.ts';
import { type OriginDocument, PageRequests } from './page-requests.ts';
import { type ShownDocument, watchDocument } from './shown-document.ts';

/** Thrown when the tab's process crashed or was killed for its memory. */
export class TabEnded extends Error {
  override readonly name = 'TabEnded';
}

/** Thrown when the page exceeded its time limit. */
export class PageOverdue extends Error {
  override readonly name = 'PageOverdue';
}

export type ShowDeps = {
  pool: Renderer;
  /** The proxy for requests that we don't handle ourselves. */
  proxy: { server: string; username: string; password: string };
  site: Site;
  fetch: Fetcher['get'];
  /** Lets the proxy admit this URL's origin. Throws if the URL may not be requested. */
  admit: (url: URL) => Promise<void>;
};

export type ShownPage = {
  page: Page;
  session: CDPSession;
  requests: PageRequests;
  /** Waits until the page makes no more requests; false if it didn't become idle in time. */
  untilQuiet(timeoutMs: number): Promise<boolean>;
  /** Evaluates an expression isolated from the page's scripts. Returns its JSON value. */
  evaluate(expression: string): Promise<unknown>;
};

const POLL_MS = 25;

/**
 * Shows a document in a fresh context and calls `work` once it is loaded and idle, or when the time for that is up.
 * Windows, dialogs and downloads are closed at once. Throws TabEnded, PageOverdue, PageLeft, BrowserGone, or what
 * `work` throws.
 */
export async function showPage<Result>(
  deps: ShowDeps,
  options: {
    document: OriginDocument;
    notices: Notices;
    /** Whether the page may send the site requests that change something. */
    mayChange: boolean;
    signal: AbortSignal;
    timeoutMs: number;
    /** Called before the first request, so that the requests of a page that fails later are known too. */
    onOpen?: (requests: PageRequests) => void;
  },
  work: (shown: ShownPage) => Promise<Result>,
): Promise<Result> {
  const { pool, proxy } = deps;
  const { document, notices, mayChange } = options;
  const contextOptions = {
    // Needed for the remaining requests only; we handle the document request ourselves.
    proxy,
    serviceWorkers: 'block',
    acceptDownloads: false,
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
  } as const;
  return pool.use(contextOptions, options.signal, async (context) => {
    // An already aborted signal calls no listeners, so the page would never give up its slot.
    options.signal.throwIfAborted();
    const overdue = new AbortController();
    const timer = setTimeout(
      () => overdue.abort(new PageOverdue(`its scripts did not end within ${options.timeoutMs} ms`)),
      options.timeoutMs,
    );
    const ended = new AbortController();
    const signal = AbortSignal.any([options.signal, overdue.signal, ended.signal]);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => undefined);

    async function show(): Promise<Result> {
      const page = await context.newPage();
      page.once('crash', () => ended.abort(new TabEnded(tabEnded(pool.limits))));
      await contain(context, page, notices);
      const requests = new PageRequests({ ...deps, page, document, notices, mayChange, signal });
      options.onOpen?.(requests);
      await context.route('**/*', (route) => requests.respond(route));
      // A WebSocket that opens and stays silent, as no static host can serve it.
      await context.routeWebSocket(/.*/, (socket) => {
        notices.add(`opens a WebSocket to ${socket.url()}, which no static host answers`);
      });
      const session = await context.newCDPSession(page);
      await session.send('Page.enable');
      // Prerendered pages would bypass the fetcher.
      await session.send('Page.setPrerenderingAllowed', { isAllowed: false });
      const shownDocument = watchDocument(session);
      session.on('Page.windowOpen', ({ url }) => notices.add(`opens a window for ${url}, which was not shown`));
      await page.goto(document.url, { waitUntil: 'commit', timeout: pool.limits.loadTimeoutMs });
      const shown: ShownPage = {
        page,
        session,
        requests,
        untilQuiet: (timeoutMs) => untilQuiet(shownDocument, requests, { quietMs: pool.limits.quietMs, timeoutMs }),
        evaluate: shownDocument.evaluate,
      };
      if (!(await hasLoaded(shown, pool.limits.loadTimeoutMs))) {
        // Continues with what has loaded so far.
        notices.add(`had not loaded after ${pool.limits.loadTimeoutMs} ms`);
      }
      if (!(await shown.untilQuiet(pool.limits.quietTimeoutMs))) {
        notices.add(`never came to rest within ${pool.limits.quietTimeoutMs} ms after it had loaded`);
      }
      return work(shown);
    }

    const showing = show();
    showing.catch(() => undefined);
    try {
      return await Promise.race([showing, aborted]);
    } finally {
      clearTimeout(timer);
      ended.abort(new Error('the page is closed'));
    }
  });
}

function tabEnded({ tabBytes }: BrowserLimits): string {
  return `its tab ended: it crashed, or took more than ${Math.round(tabBytes / 1024 ** 2)} MiB of memory`;
}

async function hasLoaded(shown: ShownPage, timeoutMs: number): Promise<boolean> {
  const ended = new AbortController();
  const late = sleep(timeoutMs, false, { signal: ended.signal, ref: false }).catch(() => false);
  const loaded = shown.evaluate(LOADED).then(() => true);
  try {
    return await Promise.race([loaded, late]);
  } finally {
    loaded.catch(() => undefined);
    ended.abort();
  }
}

const LOADED =
  "new Promise((done) => document.readyState === 'complete' ? done(true) : addEventListener('load', () => done(true)))";

/** Closes windows, dialogs and downloads of a page, because they would block it. */
async function contain(context: BrowserContext, page: Page, notices: Notices): Promise<void> {
  context.on('page', (opened) => {
    if (opened === page) return;
    notices.add('opens a window, which was closed');
    void opened.close().catch(() => undefined);
  });
  page.on('dialog', (dialog) => {
    notices.add(`shows a dialog (${dialog.type()}), which was dismissed`);
    void dialog.dismiss().catch(() => undefined);
  });
  page.on('download', (download) => {
    notices.add('starts a download, which was canceled');
    void download.cancel().catch(() => undefined);
  });
}

/**
 * Waits with the page's own timers, so that its scripts get their time however busy the machine is. Each new request
 * restarts the wait.
 */
async function untilQuiet(
  { evaluate, isLeaving }: ShownDocument,
  requests: PageRequests,
  { quietMs, timeoutMs }: { quietMs: number; timeoutMs: number },
): Promise<boolean> {
  const endAt = Date.now() + timeoutMs;
  const isBusy = (): boolean => requests.underWay() > 0 || isLeaving();
  const rest = `new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(true)), ${quietMs}))`;
  while (Date.now() < endAt) {
    const since = requests.quietSince();
    if (isBusy()) {
      await sleep(POLL_MS);
      continue;
    }
    const begunAt = performance.now();
    await evaluate(rest);
    // If this process was slow to respond, so were the page's requests: a worker may only start now.
    if (performance.now() - begunAt > 2 * quietMs && !isBusy()) await evaluate(rest);
    if (!isBusy() && requests.quietSince() === since) return true;
  }
  return false;
}

/** Methods allowed to other hosts that a page needs; requests inside a tunnel can't be inspected. */
const PASSED_ON: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'CONNECT']);

/** What `showPage` needs for a site's pages; `close` stops their proxy. */
export type SiteInBrowser = ShowDeps & { close(): Promise<void> };

/**
 * Prepares to show a site's pages. Requests go through `fetch`. Those that Chromium sends itself (redirect
 * targets, methods other than GET) go through a proxy, which admits the site and hosts that a page already got a
 * response from, by the admitted scheme only (so no tunnels to a host admitted over plain HTTP). Only the site gets
 * methods that change something.
 */
export async function openSiteInBrowser(options: {
  pool: Renderer;
  guard: AddressGuard;
  site: Site;
  fetch: Fetcher['get'];
  maxBytes: number;
  logger: Logger;
}): Promise<SiteInBrowser> {
  const { pool, guard, site, fetch, maxBytes, logger } = options;
  const admitted = new Set<string>();
  for (const own of [site.origin, `https://${site.domain}`]) admitted.add(new URL(own).origin);
  const own = new Set(admitted);
  // Checked here too, because the error names the page; the proxy checks the connection itself.
  const admit = async (url: URL): Promise<void> => {
    guard.checkUrl(url);
    await guard.addressesFor(url.hostname, portOf(url));
    admitted.add(url.origin);
  };
  const proxy = await startFilteringProxy({
    guard,
    isAdmitted: ({ origin }, method) => (PASSED_ON.has(method) ? admitted : own).has(origin),
    maxBytes,
    onRefused: (target, reason) => logger.debug({ target, reason }, 'A request of the browser was refused'),
  });
  const { address: server, credentials, close } = proxy;
  return { pool, site, fetch, admit, proxy: { server, ...credentials }, close };
}
