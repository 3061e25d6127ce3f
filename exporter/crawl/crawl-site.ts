import { checkBudget, type Spent } from '../budget.ts';
import type { Crawl } from '../crawl-records.ts';
import type { ExportDeps } from '../export-deps.ts';
import { ExportFailure } from '../export-failure.ts';
import type { ExportLimits } from '../limits.ts';
import type { Fetcher } from '../ports.ts';
import { crawlProgress } from '../progress.ts';
import { type CrawlWithSettings, readCrawl } from '../read-crawl.ts';
import { needBrowser } from '../render/find-browser.ts';
import { renderSite } from '../render/render-site.ts';
import {
  createPreviousResponses,
  MAX_WHOLE,
  openPreviousCrawl,
  type PreviousResponses,
} from '../reuse/previous-export.ts';
import { revalidatePreviousExport } from '../reuse/revalidate.ts';
import type { ExportSettings } from '../settings.ts';
import { NO_PROGRESS, type Progress } from '../stage.ts';
import { CrawlOver, type CrawlRest, crawlFrontier } from './crawl-frontier.ts';
import { crawlDelayMs, crawlPlan } from './crawl-plan.ts';
import { createCrawlScope } from './crawl-scope.ts';
import { createModuleReader } from './module-reader.ts';
import { visit } from './visit.ts';

/** Counting pages takes longer the more there are, so it may use at most one part in this many of the time. */
const COUNTING_SHARE = 20;

/** What one activity knows of its crawl, for its heartbeats and for when it ends. */
type Run = {
  jobId: string;
  token: string;
  fetchedCount: number;
  /** Leased URLs that weren't requested yet: returning them costs them no attempt. */
  unrequested: Set<number>;
};

/**
 * Crawls until the site is done or the time is up. Any number of these share one job, in any processes. If one dies,
 * others fetch again only what it hadn't settled.
 */
export async function crawlSite(
  deps: ExportDeps,
  { jobId, maxMs }: { jobId: string; maxMs: number },
): Promise<CrawlRest> {
  const { store } = deps;
  const run: Run = { jobId, token: '', fetchedCount: 0, unrequested: new Set() };
  const details = () => ({ fetched: run.fetchedCount });
  return deps.runStage({ jobId, details, progress: progressOf(deps, run) }, async (life) => {
    run.token = life.token;
    if (life.previousAttemptTokens.length > 0) await store.releaseLeases(jobId, life.previousAttemptTokens);
    const crawl = await readCrawl(store, jobId);
    deps.forgetIfRestarted(crawl);
    const budget = createBudget(crawl, deps.limits);
    const reusable = await openReusable(deps, crawl);
    const origin = deps.fetcherFor(crawl.settings);
    origin.space(crawl.settings.site.origin, crawlDelayMs(crawl.settings));
    let rendering: Rendering | undefined;
    try {
      if (crawl.settings.render === 'browser') rendering = await openRendering(deps, crawl.settings, origin);
      return await crawlUrls(deps, run, { crawl, budget, reusable, origin, rendering, signal: life.signal, maxMs });
    } catch (error) {
      if (error instanceof CrawlOver) throw new ExportFailure('CrawlGone', error.message);
      throw error;
    } finally {
      await rendering?.close();
      void origin.close();
      await giveBackLeases(deps, run);
    }
  });
}

async function crawlUrls(
  deps: ExportDeps,
  run: Run,
  given: {
    crawl: CrawlWithSettings;
    budget: Budget;
    reusable: Reusable | undefined;
    origin: Fetcher;
    rendering: Rendering | undefined;
    signal: AbortSignal;
    maxMs: number;
  },
): Promise<CrawlRest> {
  const { store, limits } = deps;
  const { jobId, token, unrequested } = run;
  const { crawl, budget, reusable, rendering, signal, maxMs } = given;
  const { settings, urlCount } = crawl;
  const variants = await store.queryVariants(jobId);
  const skips = await store.countSkips(jobId);
  const scope = createCrawlScope({ settings, limits, urlCount, variants, skips });
  const fetcher = rendering?.fetcher ?? given.origin;
  const importsOf = createModuleReader(fetcher, settings, signal);
  const onResponse = (): void => {
    run.fetchedCount += 1;
  };
  if (reusable !== undefined && !crawl.walked && mayRevalidate(reusable.base, settings)) {
    const { base, known } = reusable;
    const revalidation = {
      settings,
      baseJobId: base.jobId,
      known,
      scope,
      fetcher,
      importsOf,
      token,
      signal,
      onResponse,
    };
    await revalidatePreviousExport(deps, revalidation);
  }
  const visiting = { ...deps, importsOf, known: reusable?.known, render: rendering?.render, foresee: budget.foresee };
  return crawlFrontier(rendering === undefined ? deps : { ...deps, limits: rendering.limits }, {
    jobId,
    token,
    scope,
    stored: deps.stored.of(jobId),
    signal,
    maxMs: Math.min(maxMs, crawlPlan(limits, settings).activityMs),
    ...(rendering && { graceMs: rendering.graceMs }),
    now: deps.clock.nowMs,
    onSpent: budget.onSpent,
    visit: async (leased, onBody) => {
      unrequested.add(leased.id);
      const noticed = noticeBegin(fetcher, () => unrequested.delete(leased.id));
      const visited = await visit({ ...visiting, fetcher: noticed }, { settings, leased, signal, onBody });
      unrequested.delete(leased.id);
      onResponse();
      return visited;
    },
  });
}

/** Reports the crawl's progress, and renews the worker's leases with it. */
function progressOf({ store, limits }: ExportDeps, run: Run): () => Promise<Progress> {
  const { jobId } = run;
  let nextCountAt = 0;

  /** The number of pages so far; 0, which changes no figure, if it is too early to count again. */
  async function countedPages(): Promise<number> {
    const startedAt = Date.now();
    if (startedAt < nextCountAt) return 0;
    const pageCount = await store.countPages(jobId);
    nextCountAt = Date.now() + (Date.now() - startedAt) * COUNTING_SHARE;
    return pageCount;
  }

  return async () => {
    await store.renewLeases({ jobId, token: run.token, leaseMs: limits.leaseMs });
    const crawl = await store.getCrawl(jobId);
    if (crawl?.phase !== 'crawling') return NO_PROGRESS;
    return { progress: crawlProgress(crawl), pageCount: await countedPages() };
  };
}

/** Best effort: leases expire by themselves, but other workers would wait for that. */
async function giveBackLeases({ store, logger }: ExportDeps, { jobId, token, unrequested }: Run): Promise<void> {
  const warn = (error: unknown): void => logger.warn({ err: error, jobId }, 'Leases could not be given back');
  await store.giveBackUnasked({ jobId, token, ids: [...unrequested] }).catch(warn);
  await store.releaseLeases(jobId, [token]).catch(warn);
}

type Budget = {
  /** Throws if this many more bytes would exceed the export's budget. */
  foresee(bytes: number): void;
  /** Keeps what the export has spent. Throws if that is too much. */
  onSpent(spent: Spent): void;
};

function createBudget(begun: Spent, limits: ExportLimits): Budget {
  let spent = begun;
  checkBudget(spent, limits);
  return {
    foresee(bytes) {
      const { fileCount, decodedBytes, storedBytes } = spent;
      checkBudget({ fileCount, decodedBytes: decodedBytes + bytes, storedBytes: storedBytes + bytes }, limits);
    },
    onSpent(counts) {
      spent = counts;
      checkBudget(spent, limits);
    },
  };
}

type Reusable = { base: Crawl; known: PreviousResponses };

/** The previous export, unless pages are rendered: those depend on more than the one response that can be revalidated. */
async function openReusable(deps: ExportDeps, crawl: CrawlWithSettings): Promise<Reusable | undefined> {
  const { jobId, render, createdAt } = crawl.settings;
  const base = await openPreviousCrawl(deps, crawl);
  if (base === undefined || render !== 'http') return undefined;
  const links = deps.linksFor(jobId);
  const files = deps.previousFilesFor({ jobId, base });
  return { base, known: createPreviousResponses({ links, logger: deps.logger }, files, createdAt) };
}

/** If requests must be spaced, or there are more pages than memory should hold, the normal crawl works better. */
function mayRevalidate(base: Crawl, settings: ExportSettings): boolean {
  return base.urlCount <= MAX_WHOLE && crawlDelayMs(settings) === 0;
}

type Rendering = Awaited<ReturnType<typeof openRendering>>;

/** The browser for this crawl. It handles fewer URLs at a time, because each waits for a browser context. */
async function openRendering(deps: ExportDeps, settings: ExportSettings, fetcher: Fetcher) {
  const pool = await needBrowser(deps.renderer);
  const site = await renderSite({ ...deps, guard: deps.guardFor(settings), fetcher, pool }, settings);
  const { pagesAtOnce, pageTimeoutMs } = pool.limits;
  const maxConcurrency = Math.min(deps.limits.maxConcurrency, 2 * pagesAtOnce);
  return { ...site, limits: { ...deps.limits, maxConcurrency }, graceMs: 2 * pageTimeoutMs };
}

/** The same fetcher, with a callback when a request passes the limiter. */
function noticeBegin(fetcher: Fetcher, onBegin: () => void): Fetcher {
  return { ...fetcher, get: (url, options) => fetcher.get(url, { ...options, onBegin }) };
}
