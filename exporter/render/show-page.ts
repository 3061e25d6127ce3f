import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import type { Site } from '../document/types.ts';
import type { Fetcher, Renderer } from '../ports.ts';
import type { BrowserLimits } from './browser-limits.ts';
import type { Notices } from './notices.ts';
import { createPageRequests, type OriginDocument, type PageRequests } from './page-requests.ts';
import { type ShownDocument, watchDocument } from './shown-document.ts';

/** Thrown when the page's own process ended: it crashed, or was ended for its memory. */
export class TabEnded extends Error {
  override readonly name = 'TabEnded';
}

/** Thrown when the page took all the time it may. */
export class PageOverdue extends Error {
  override readonly name = 'PageOverdue';
}

export type ShowDeps = {
  pool: Renderer;
  /** The way out that the page's requests take where we don't answer them ourselves. */
  proxy: { server: string; username: string; password: string };
  site: Site;
  fetch: Fetcher['get'];
  /** Lets the proxy pass what follows this address. Throws where it may not be reached. */
  admit: (url: URL) => Promise<void>;
};

export type ShownPage = {
  page: Page;
  session: CDPSession;
  requests: PageRequests;
  /** Waits until the page asks for nothing any more; false where it didn't come to rest in this time. */
  untilQuiet(timeoutMs: number): Promise<boolean>;
  /** Runs an expression apart from the page's own scripts, which can't reach into it. Answers its JSON value. */
  evaluate(expression: string): Promise<unknown>;
};

const POLL_MS = 25;

/**
 * Shows a document in a fresh context and hands it to `work` once it has loaded and come to rest, or once the time for
 * that is up. Windows, dialogs and downloads end where they begin. Throws TabEnded, PageOverdue, PageLeft, BrowserGone,
 * or what `work` throws.
 */
export async function showPage<Result>(
  deps: ShowDeps,
  options: {
    document: OriginDocument;
    notices: Notices;
    /** Whether the page may ask its site by methods that change something there. */
    mayChange: boolean;
    signal: AbortSignal;
    timeoutMs: number;
    /** Is given what the page asks for before it asks: that is known also of a page that doesn't end well. */
    onOpen?: (requests: PageRequests) => void;
  },
  work: (shown: ShownPage) => Promise<Result>,
): Promise<Result> {
  const { pool, proxy } = deps;
  const { document, notices, mayChange } = options;
  const contextOptions = {
    // The page's document is answered from what was fetched: the rest of the connection matters to no script.
    proxy,
    serviceWorkers: 'block',
    acceptDownloads: false,
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
  } as const;
  return pool.use(contextOptions, options.signal, async (context) => {
    // A signal that has fired already tells its listeners nothing: the page would hold its place for good.
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
      const requests = createPageRequests({ ...deps, page, document, notices, mayChange, signal });
      options.onOpen?.(requests);
      await context.route('**/*', (route) => requests.answer(route));
      // It seems open and stays silent: no static host has another end for it.
      await context.routeWebSocket(/.*/, (socket) => {
        notices.add(`opens a WebSocket to ${socket.url()}, which no static host answers`);
      });
      const session = await context.newCDPSession(page);
      await session.send('Page.enable');
      // Pages shown before anybody asks for them would be asked for beside the fetcher.
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
        // What has loaded by now is shown.
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

/** Windows, dialogs and downloads of a page: none stays open, none holds the page up. */
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
    notices.add('starts a download, which was cancelled');
    void download.cancel().catch(() => undefined);
  });
}

/**
 * The time is the page's own: what its scripts were to do within it, they have done, however busy this machine is. What
 * they ask for meanwhile begins it anew.
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
    // Where this process was late to hear of it, so was all that waits for us: a worker of the page begins only now.
    if (performance.now() - begunAt > 2 * quietMs && !isBusy()) await evaluate(rest);
    if (!isBusy() && requests.quietSince() === since) return true;
  }
  return false;
}
