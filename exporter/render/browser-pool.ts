import type { Logger } from 'pino';
import type { BrowserContext, BrowserContextOptions, CDPSession } from 'playwright-core';
import { createResponseCache } from '../fetch/caching-fetcher.ts';
import { errorMessage } from '../fetch/error-code.ts';
import { type BrowserLimits, DEFAULT_BROWSER_LIMITS } from '../limits.ts';
import type { BrowserTrouble, Renderer, ResponseCache } from '../ports.ts';
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

type PoolOptions = {
  path: string | undefined;
  sandbox: boolean;
  searchPath: string;
  logger: Logger;
  limits?: Partial<BrowserLimits>;
};

/**
 * One browser per process, started on demand. It is replaced after its share of pages, above the memory limit or when
 * it dies. Open pages finish in the old browser.
 */
export class BrowserPool implements Renderer {
  readonly limits: BrowserLimits;
  readonly responses: ResponseCache;
  readonly #options: PoolOptions;
  readonly #waiting: Array<() => void> = [];
  readonly #alive = new Set<Running>();
  #places: number;
  #current: Promise<Running> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.limits = { ...DEFAULT_BROWSER_LIMITS, ...options.limits };
    this.responses = createResponseCache(this.limits.rememberedBytes);
    this.#places = this.limits.pagesAtOnce;
  }

  async trouble(): Promise<BrowserTrouble | undefined> {
    if ((await findBrowser(this.#options)) === undefined) return { text: BROWSER_MISSING, isLasting: true };
    // A running browser needs no test, which would take a slot from other pages.
    const running = await this.#current?.catch(() => undefined);
    if (running?.browser.isConnected()) return undefined;
    try {
      await this.use({}, new AbortController().signal, async () => undefined);
      return undefined;
    } catch (error) {
      const cause = error instanceof BrowserNotStarted ? error.cause : error;
      // The browser did start and ended later; the next page starts another one.
      if (cause instanceof BrowserGone) return undefined;
      this.#options.logger.warn({ err: cause }, 'The browser does not start');
      return startTrouble(cause);
    }
  }

  async use<Result>(
    contextOptions: BrowserContextOptions,
    signal: AbortSignal,
    work: (context: BrowserContext) => Promise<Result>,
  ): Promise<Result> {
    await this.#enter(signal);
    let running: Running | undefined;
    let context: BrowserContext | undefined;
    try {
      running = await this.#obtain();
      context = await running.browser.newContext(contextOptions);
      return await work(context);
    } catch (error) {
      if (running !== undefined && !running.browser.isConnected()) {
        throw new BrowserGone('the browser ended while it showed the page', { cause: error });
      }
      throw error;
    } finally {
      if (running !== undefined) {
        await this.#closeContext(running, context);
        running.active -= 1;
        if (running.retired) this.#retire(running);
      }
      this.#leave();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#current?.catch(() => undefined);
    await Promise.all([...this.#alive].map((running) => this.#close(running)));
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    clearTimeout(this.#idleTimer);
    if (this.#places > 0) {
      this.#places -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(begin);
    });
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#places += 1;
    if (this.#places < this.limits.pagesAtOnce) return;
    this.#idleTimer = setTimeout(() => void this.#closeIdle(), this.limits.idleMs);
    this.#idleTimer.unref();
  }

  async #closeIdle(): Promise<void> {
    const running = await this.#current?.catch(() => undefined);
    if (running !== undefined && running.active === 0) this.#retire(running);
  }

  async #obtain(): Promise<Running> {
    this.#current ??= this.#launch().catch((error: unknown) => {
      this.#current = undefined;
      throw new BrowserNotStarted(`the browser did not start: ${errorMessage(error).split('\n')[0]}`, { cause: error });
    });
    const running = await this.#current;
    if (running.retired) return this.#obtain();
    running.served += 1;
    running.active += 1;
    if (running.served >= this.limits.pagesPerBrowser) this.#retire(running);
    return running;
  }

  async #launch(): Promise<Running> {
    const executablePath = await findBrowser(this.#options);
    if (executablePath === undefined) throw new Error('there is no browser');
    const launched = await launchBrowser({ ...this.#options, executablePath });
    const { browser } = launched;
    const session = await browser.newBrowserCDPSession().catch(async (error: unknown) => {
      await browser.close().catch(() => undefined);
      await launched.clear();
      throw error;
    });
    const running: Running = { ...launched, session, served: 0, active: 0, retired: false };
    this.#alive.add(running);
    const timer = setInterval(() => void this.#checkMemory(running), this.limits.memoryCheckMs);
    timer.unref();
    browser.once('disconnected', () => {
      clearInterval(timer);
      this.#alive.delete(running);
      this.#retire(running);
    });
    this.#options.logger.debug({ version: browser.version() }, 'A browser was started');
    return running;
  }

  async #checkMemory(running: Running): Promise<void> {
    if (running.active === 0) return;
    const processes = await browserProcesses(running.session).catch(() => []);
    for (const { pid, isTab, sizeBytes } of processes) {
      if (isTab && sizeBytes > this.limits.tabBytes) kill(pid);
    }
    const total = processes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (total > this.limits.browserBytes) this.#retire(running);
  }

  /** If a page blocks the close, kills the whole browser. */
  async #closeContext(running: Running, context: BrowserContext | undefined): Promise<void> {
    if (context === undefined) return;
    const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), CLOSE_TIMEOUT_MS).unref());
    const closed = context.close().then(
      () => 'closed' as const,
      () => 'closed' as const,
    );
    if ((await Promise.race([closed, late])) === 'closed') return;
    this.#retire(running);
    for (const { pid } of await browserProcesses(running.session).catch(() => [])) kill(pid);
  }

  /** Assigns no more pages to this browser, and closes it when it has none left. */
  #retire(running: Running): void {
    if (!running.retired) {
      running.retired = true;
      this.#current = undefined;
    }
    if (running.active === 0) void this.#close(running);
  }

  async #close({ browser, clear }: Running): Promise<void> {
    const { logger } = this.#options;
    await browser.close().catch((error: unknown) => logger.debug({ err: error }, 'A browser ended uncleanly'));
    await clear();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
