import type { Logger } from 'pino';
import type { BrowserContext, BrowserContextOptions, CDPSession } from 'playwright-core';
import { createResponseCache } from '../fetch/caching-fetcher.ts';
import { errorMessage } from '../fetch/error-code.ts';
import { type BrowserLimits, DEFAULT_BROWSER_LIMITS } from '../limits.ts';
import type { Renderer } from '../ports.ts';
import { BROWSER_MISSING, findBrowser, startTrouble } from './find-browser.ts';
import { browserProcesses, type Launched, launchBrowser } from './launch-browser.ts';

/** Thrown when the browser ended during the work, which may be retried. */
export class BrowserGone extends Error {
  override readonly name: string = 'BrowserGone';
}

/** Thrown when no browser started; `cause` says why. */
class BrowserNotStarted extends BrowserGone {
  override readonly name = 'BrowserNotStarted';
}

type Running = Launched & { session: CDPSession; served: number; active: number; retired: boolean };

/** Generous for a busy machine: a context that takes longer to close is blocked by its page. */
const CLOSE_TIMEOUT_MS = 20_000;

/**
 * One browser per process, started on demand. It is replaced after its share of pages, above the memory limit or when
 * it dies. Open pages finish in the old browser.
 */
export function createBrowserPool(options: {
  path: string | undefined;
  sandbox: boolean;
  searchPath: string;
  logger: Logger;
  limits?: Partial<BrowserLimits>;
}): Renderer {
  const { logger } = options;
  const limits = { ...DEFAULT_BROWSER_LIMITS, ...options.limits };
  const waiting: Array<() => void> = [];
  let places = limits.pagesAtOnce;
  let current: Promise<Running> | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  const alive = new Set<Running>();

  async function launch(): Promise<Running> {
    const executablePath = await findBrowser(options);
    if (executablePath === undefined) throw new Error('there is no browser');
    const launched = await launchBrowser({ ...options, executablePath });
    const { browser } = launched;
    const session = await browser.newBrowserCDPSession().catch(async (error: unknown) => {
      await browser.close().catch(() => undefined);
      await launched.clear();
      throw error;
    });
    const running: Running = { ...launched, session, served: 0, active: 0, retired: false };
    alive.add(running);
    const timer = setInterval(() => void checkMemory(running), limits.memoryCheckMs);
    timer.unref();
    browser.once('disconnected', () => {
      clearInterval(timer);
      alive.delete(running);
      retire(running);
    });
    logger.debug({ version: browser.version() }, 'A browser was started');
    return running;
  }

  async function checkMemory(running: Running): Promise<void> {
    if (running.active === 0) return;
    const processes = await browserProcesses(running.session).catch(() => []);
    for (const { pid, isTab, sizeBytes } of processes) {
      if (isTab && sizeBytes > limits.tabBytes) end(pid);
    }
    const total = processes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (total > limits.browserBytes) retire(running);
  }

  function end(pid: number): void {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }

  /** Assigns no more pages to this browser, and closes it when it has none left. */
  function retire(running: Running): void {
    if (!running.retired) {
      running.retired = true;
      current = undefined;
    }
    if (running.active === 0) void close(running);
  }

  async function close(running: Running): Promise<void> {
    await running.browser.close().catch((error: unknown) => logger.debug({ err: error }, 'A browser ended uncleanly'));
    await running.clear();
  }

  async function enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (idleTimer !== undefined) clearTimeout(idleTimer);
    if (places > 0) {
      places -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(begin);
    });
  }

  function leave(): void {
    const next = waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    places += 1;
    if (places < limits.pagesAtOnce) return;
    idleTimer = setTimeout(() => void closeCurrent(), limits.idleMs);
    idleTimer.unref();
  }

  async function closeCurrent(): Promise<void> {
    const running = await current?.catch(() => undefined);
    if (running !== undefined && running.active === 0) retire(running);
  }

  async function obtain(): Promise<Running> {
    current ??= launch().catch((error: unknown) => {
      current = undefined;
      throw new BrowserNotStarted(`the browser did not start: ${errorMessage(error).split('\n')[0]}`, { cause: error });
    });
    const running = await current;
    if (running.retired) return obtain();
    running.served += 1;
    running.active += 1;
    if (running.served >= limits.pagesPerBrowser) retire(running);
    return running;
  }

  /** If a page blocks the close, kills the whole browser. */
  async function closeContext(running: Running, context: BrowserContext | undefined): Promise<void> {
    if (context === undefined) return;
    const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), CLOSE_TIMEOUT_MS).unref());
    const closed = context.close().then(
      () => 'closed' as const,
      () => 'closed' as const,
    );
    if ((await Promise.race([closed, late])) === 'closed') return;
    retire(running);
    for (const { pid } of await browserProcesses(running.session).catch(() => [])) end(pid);
  }

  async function use<Result>(
    contextOptions: BrowserContextOptions,
    signal: AbortSignal,
    work: (context: BrowserContext) => Promise<Result>,
  ): Promise<Result> {
    await enter(signal);
    let running: Running | undefined;
    let context: BrowserContext | undefined;
    try {
      running = await obtain();
      context = await running.browser.newContext(contextOptions);
      return await work(context);
    } catch (error) {
      if (running !== undefined && !running.browser.isConnected()) {
        throw new BrowserGone('the browser ended while it showed the page', { cause: error });
      }
      throw error;
    } finally {
      if (running !== undefined) {
        await closeContext(running, context);
        running.active -= 1;
        if (running.retired) retire(running);
      }
      leave();
    }
  }

  return {
    limits,
    responses: createResponseCache(limits.rememberedBytes),
    async trouble() {
      if ((await findBrowser(options)) === undefined) return { text: BROWSER_MISSING, isLasting: true };
      // A running browser needs no test, which would take a slot from other pages.
      const running = await current?.catch(() => undefined);
      if (running?.browser.isConnected()) return undefined;
      try {
        await use({}, new AbortController().signal, async () => undefined);
        return undefined;
      } catch (error) {
        const cause = error instanceof BrowserNotStarted ? error.cause : error;
        // The browser did start and ended later; the next page starts another one.
        if (cause instanceof BrowserGone) return undefined;
        logger.warn({ err: cause }, 'The browser does not start');
        return startTrouble(cause);
      }
    },

    use,

    async close() {
      if (idleTimer !== undefined) clearTimeout(idleTimer);
      await current?.catch(() => undefined);
      await Promise.all([...alive].map(close));
    },
  };
}
