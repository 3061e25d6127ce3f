import { checkBudget, type Spent } from '../budget.ts';
import type { Crawl } from '../crawl-records.ts';
import type { ExportDeps } from '../export-deps.ts';
import { ExportFailure } from '../export-failure.ts';
import type { Fetcher } from '../ports.ts';
import { crawlProgress } from '../progress.ts';
import { readCrawl } from '../read-crawl.ts';
import { needBrowser } from '../render/find-browser.ts';
import { renderSite } from '../render/render-site.ts';
import { createPreviousResponses, MAX_WHOLE, openPreviousCrawl } from '../reuse/previous-export.ts';
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

/**
 * Crawls until the site is done or the time is up. Any number of these share one job, in any processes. If one dies,
 * others fetch again only what it hadn't settled.
 */
export async function crawlSite(
  deps: ExportDeps,
  { jobId, maxMs }: { jobId: string; maxMs: number },
): Promise<CrawlRest> {
  const { store, limits, logger } = deps;
  let fetchedCount = 0;
  let token = '';
  let nextCountAt = 0;

  async function progress(): Promise<Progress> {
    await store.renewLeases({ jobId, token, leaseMs: limits.leaseMs });
    const crawl = await store.getCrawl(jobId);
    if (crawl?.phase !== 'crawling') return NO_PROGRESS;
    return { progress: crawlProgress(crawl), pageCount: await countedPages() };
  }

  /** The number of pages so far; 0, which changes no figure, if it is too early to count again. */
  async function countedPages(): Promise<number> {
    const startedAt = Date.now();
    if (startedAt < nextCountAt) return 0;
    const pageCount = await store.countPages(jobId);
    nextCountAt = Date.now() + (Date.now() - startedAt) * COUNTING_SHARE;
    return pageCount;
  }

  async function tryTo(giveBack: () => Promise<void>): Promise<void> {
    try {
      await giveBack();
    } catch (error) {
      logger.warn({ err: error, jobId }, 'Leases could not be given back');
    }
  }

  const details = () => ({ fetched: fetchedCount });
  return deps.runStage({ jobId, details, progress }, async (life) => {
    token = life.token;
    if (life.previousAttemptTokens.length > 0) await store.releaseLeases(jobId, life.previousAttemptTokens);
    const crawl = await readCrawl(store, jobId);
    deps.forgetIfRestarted(crawl);
    const { settings, urlCount } = crawl;
    let spent: Spent = crawl;
    checkBudget(spent, limits);
    const foresee = (bytes: number): void => {
      const { fileCount, decodedBytes, storedBytes } = spent;
      checkBudget({ fileCount, decodedBytes: decodedBytes + bytes, storedBytes: storedBytes + bytes }, limits);
    };
    const base = await openPreviousCrawl(deps, crawl);
    // A rendered page depends on more than the one response that its origin can revalidate.
    const taking = settings.render === 'http' ? base : undefined;
    const links = deps.linksFor(jobId);
    const known =
      taking &&
      createPreviousResponses({ links, logger }, deps.previousFilesFor({ jobId, base: taking }), settings.createdAt);
    const variants = await store.queryVariants(jobId);
    const skips = await store.countSkips(jobId);
    const scope = createCrawlScope({ settings, limits, urlCount, variants, skips });
    const origin = deps.fetcherFor(settings);
    origin.space(settings.site.origin, crawlDelayMs(settings));
    const { signal } = life;
    const unasked = new Set<number>();
    let rendering: Awaited<ReturnType<typeof openRendering>> | undefined;
    try {
      if (settings.render === 'browser') rendering = await openRendering(deps, settings, origin);
      const fetcher = rendering?.fetcher ?? origin;
      const render = rendering?.render;
      const importsOf = createModuleReader(fetcher, settings, signal);
      if (taking !== undefined && known !== undefined && !crawl.walked && mayRevalidate(taking, settings)) {
        const onResponse = () => (fetchedCount += 1);
        await revalidatePreviousExport(deps, {
          settings,
          baseJobId: taking.jobId,
          known,
          scope,
          fetcher,
          importsOf,
          token,
          signal,
          onResponse,
        });
      }
      return await crawlFrontier(rendering === undefined ? deps : { ...deps, limits: rendering.limits }, {
        jobId,
        token,
        scope,
        stored: deps.stored.of(jobId),
        signal,
        maxMs: Math.min(maxMs, crawlPlan(limits, settings).activityMs),
        ...(rendering && { graceMs: rendering.graceMs }),
        now: deps.clock.nowMs,
        onSpent: (counts) => {
          spent = counts;
          checkBudget(spent, limits);
        },
        visit: async (leased, onBody) => {
          unasked.add(leased.id);
          const noticed = noticeBegin(fetcher, () => unasked.delete(leased.id));
          const visited = await visit(
            { ...deps, fetcher: noticed, importsOf, known, render, foresee },
            { settings, leased, signal, onBody },
          );
          unasked.delete(leased.id);
          fetchedCount += 1;
          return visited;
        },
      });
    } catch (error) {
      if (error instanceof CrawlOver) throw new ExportFailure('CrawlGone', error.message);
      throw error;
    } finally {
      await rendering?.close();
      void origin.close();
      // Best effort: leases expire by themselves, but other workers would wait for that.
      await tryTo(() => store.giveBackUnasked({ jobId, token, ids: [...unasked] }));
      await tryTo(() => store.releaseLeases(jobId, [token]));
    }
  });
}

/** If requests must be spaced, or there are more pages than memory should hold, the normal crawl works better. */
function mayRevalidate(base: Crawl, settings: ExportSettings): boolean {
  return base.urlCount <= MAX_WHOLE && crawlDelayMs(settings) === 0;
}

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
