import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { Site } from '../page/types.ts';
import type { BrowserLimits } from './browser-limits.ts';
import type { BrowserPool } from './browser-pool.ts';
import type { Notices } from './notices.ts';
import { createPageRequests, type OriginDocument, type PageRequests } from './page-requests.ts';

/** Thrown when the page's own process ended: it crashed, or was ended for its memory. */
export class TabEnded extends Error {
  override readonly name = 'TabEnded';
}

/** Thrown when the page took all the time it may. */
export class PageOverdue extends Error {
  override readonly name = 'PageOverdue';
}

/** Thrown when the window shows another document than the one it was given. */
export class PageLeft extends Error {
  override readonly name = 'PageLeft';
}

export type ShowDeps = {
  pool: BrowserPool;
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
      const shownDocuments = documentsOf(session);
      session.on('Page.windowOpen', ({ url }) => notices.add(`opens a window for ${url}, which was not shown`));
      await page.goto(document.url, { waitUntil: 'commit', timeout: pool.limits.loadTimeoutMs });
      const shown: ShownPage = {
        page,
        session,
        requests,
        untilQuiet: (timeoutMs) => untilQuiet(shown, pool.limits.quietMs, timeoutMs),
        evaluate: await evaluatorOf(session, shownDocuments),
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
async function untilQuiet({ requests, evaluate }: ShownPage, quietMs: number, timeoutMs: number): Promise<boolean> {
  const endAt = Date.now() + timeoutMs;
  while (Date.now() < endAt) {
    const since = requests.quietSince();
    if (requests.underWay() > 0) {
      await sleep(POLL_MS);
      continue;
    }
    await evaluate(`new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(true)), ${quietMs}))`);
    if (requests.underWay() === 0 && requests.quietSince() === since) return true;
  }
  return false;
}

type ShownDocument = { url: string; loaderId: string };

/** The documents that the window shows from now on, one after the other. */
function documentsOf(session: CDPSession): ShownDocument[] {
  const documents: ShownDocument[] = [];
  session.on('Page.frameNavigated', ({ frame }) => {
    if (frame.parentId === undefined) documents.push(frame);
  });
  return documents;
}

/**
 * Runs expressions in a world of their own on the one document that was loaded. Throws PageLeft once there is another:
 * a script may leave for an address that no request is made for.
 */
async function evaluatorOf(
  session: CDPSession,
  shownDocuments: readonly ShownDocument[],
): Promise<(expression: string) => Promise<unknown>> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const frameId = frameTree.frame.id;
  const [loaded = frameTree.frame] = shownDocuments;

  return async (expression) => {
    throwIfLeft();
    const { result, exceptionDetails } = await inOwnWorld(expression).catch(async (error: unknown) => {
      // A document takes its worlds along, and that may be heard before the one that follows it is.
      const { frameTree } = await session.send('Page.getFrameTree');
      throw frameTree.frame.loaderId === loaded.loaderId ? error : pageLeft(frameTree.frame);
    });
    throwIfLeft();
    if (exceptionDetails === undefined) return result.value;
    throw new Error(exceptionDetails.exception?.description?.split('\n')[0] ?? exceptionDetails.text);
  };

  function throwIfLeft(): void {
    const [, another] = shownDocuments;
    if (another !== undefined) throw pageLeft(another);
  }

  async function inOwnWorld(expression: string) {
    const world = await session.send('Page.createIsolatedWorld', { frameId, worldName: 'galley' });
    const contextId = world.executionContextId;
    return session.send('Runtime.evaluate', { expression, contextId, awaitPromise: true, returnByValue: true });
  }
}

function pageLeft({ url }: ShownDocument): PageLeft {
  return new PageLeft(`a script left the page for ${url}`);
}
