import type { Crawl, LeasedUrl, Visited } from '../crawl-records.ts';
import type { ModuleImports } from '../document/javascript/import-map.ts';
import { ExportFailure } from '../export-failure.ts';
import type { GuardFor } from '../fetch/address-guard.ts';
import type { Clock } from '../fetch/clock.ts';
import type { RestartCheck } from '../job-cache.ts';
import { type Budget, createBudget } from '../limits.ts';
import type { Fetcher } from '../ports.ts';
import type { Rendering } from '../render/render-site.ts';
import type { LinkTablesFor } from '../reuse/link-tables.ts';
import {
  createPreviousResponses,
  MAX_WHOLE,
  type PreviousFilesFor,
  type PreviousResponses,
} from '../reuse/previous-responses.ts';
import { openPreviousCrawl } from '../reuse/reuse-key.ts';
import { type CrawlWithSettings, type ExportSettings, readCrawl } from '../settings.ts';
import { crawlProgress, depsOfAttempt, NO_PROGRESS, type Progress, withLeases } from '../stage.ts';
import { crawlDelayMs } from '../urls/robots.ts';
import { CrawlOver, type CrawlRest, crawlFrontier } from './crawl-frontier.ts';
import { createCrawlScope } from './crawl-scope.ts';
import { createModuleReader } from './read-response.ts';
import type { StoredUrlsFor } from './report-urls.ts';
import { revalidatePreviousExport } from './revalidate.ts';
import { crawlPlan } from './site-rules.ts';
import { type OnBody, type VisitingStageDeps, visit } from './visit.ts';

/** Counting pages takes longer the more there are, so it may use at most one part in this many of the time. */
const COUNTING_SHARE = 20;

type CrawlDeps = VisitingStageDeps & {
  clock: Clock;
  forgetIfRestarted: RestartCheck;
  stored: StoredUrlsFor;
  linksFor: LinkTablesFor;
  previousFilesFor: PreviousFilesFor;
  guardFor: GuardFor;
};

/** What one activity knows of its crawl, for its heartbeats and for when it ends. */
type Run = {
  jobId: string;
  token: string;
  fetchedCount: number;
};

/**
 * Crawls until the site is done or the time is up. Any number of these share one job, in any processes. If one dies,
 * others fetch again only what it hadn't settled.
 */
export async function crawlSite(
  given: CrawlDeps,
  { jobId, maxMs }: { jobId: string; maxMs: number },
): Promise<CrawlRest> {
  const { store } = given;
  const run: Run = { jobId, token: '', fetchedCount: 0 };
  const details = () => ({ fetched: run.fetchedCount });
  return given.runStage({ jobId, details, progress: progressOf(given, run) }, async (life) => {
    const deps = depsOfAttempt(given, life);
    run.token = life.token;
    const crawl = await readCrawl(store, jobId);
    deps.forgetIfRestarted(crawl);
    const budget = createBudget(crawl, deps.limits);
    const previous = await openPreviousExport(deps, crawl);
    const origin = deps.fetcherFor(crawl.settings);
    origin.space(crawl.settings.site.origin, crawlDelayMs(crawl.settings));
    return withLeases(deps, run, async () => {
      let rendering: Rendering | undefined;
      try {
        if (crawl.settings.render === 'browser') {
          // Most projects aren't rendered, and the browser's code takes long to load.
          const { openRendering } = await import('../render/render-site.ts');
          rendering = await openRendering(deps, crawl.settings, origin);
        }
        const fetcher = rendering?.fetcher ?? origin;
        const { signal } = life;
        return await crawlUrls(deps, run, { crawl, budget, previous, fetcher, rendering, signal, maxMs });
      } catch (error) {
        if (error instanceof CrawlOver) throw new ExportFailure('CrawlGone', error.message);
        throw error;
      } finally {
        await rendering?.close();
        void origin.close();
      }
    });
  });
}

/** What one activity crawls with. */
type CrawlTools = {
  crawl: CrawlWithSettings;
  budget: Budget;
  previous: PreviousExport | undefined;
  fetcher: Fetcher;
  rendering: Rendering | undefined;
  signal: AbortSignal;
  maxMs: number;
};

async function crawlUrls(deps: CrawlDeps, run: Run, tools: CrawlTools): Promise<CrawlRest> {
  const { store, limits } = deps;
  const { jobId, token } = run;
  const { crawl, budget, previous, fetcher, rendering, signal, maxMs } = tools;
  const { settings, urlCount } = crawl;
  const scope = createCrawlScope({ settings, limits, urlCount, ...(await store.scopeCounts(jobId)) });
  const importsOf = createModuleReader({ ...deps, fetcher }, settings, signal);
  if (previous !== undefined && !crawl.revalidated && mayRevalidate(previous.base, settings)) {
    await revalidatePreviousExport(deps, {
      settings,
      baseJobId: previous.base.jobId,
      known: previous.responses,
      scope,
      fetcher,
      importsOf,
      token,
      signal,
      onResponse: () => countResponse(run),
    });
  }
  return crawlFrontier(rendering === undefined ? deps : { ...deps, limits: rendering.limits }, {
    jobId,
    token,
    scope,
    stored: deps.stored(jobId),
    keepsLinks: crawl.keep,
    signal,
    maxMs: Math.min(maxMs, crawlPlan(limits, settings).activityMs),
    ...(rendering && { graceMs: rendering.graceMs }),
    now: deps.clock.nowMs,
    onSpent: budget.onSpent,
    visit: createVisitor(deps, run, { ...tools, importsOf }),
  });
}

/** Visits leased URLs and counts them. */
function createVisitor(
  deps: CrawlDeps,
  run: Run,
  { crawl, budget, previous, fetcher, rendering, signal, importsOf }: CrawlTools & { importsOf: ModuleImports },
): (leased: LeasedUrl, onBody: OnBody) => Promise<Visited> {
  const { settings } = crawl;
  const { foresee } = budget;
  const visiting = { ...deps, fetcher, importsOf, known: previous?.responses, render: rendering?.render, foresee };
  return async (leased, onBody) => {
    const visited = await visit(visiting, { settings, leased, signal, onBody });
    countResponse(run);
    return visited;
  };
}

function countResponse(run: Run): void {
  run.fetchedCount += 1;
}

/** Reports the crawl's progress, and renews the worker's leases with it. */
function progressOf({ store, limits }: CrawlDeps, run: Run): () => Promise<Progress> {
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

type PreviousExport = { base: Crawl; responses: PreviousResponses };

/** The previous export, unless pages are rendered: those depend on more than the one response that can be revalidated. */
async function openPreviousExport(deps: CrawlDeps, crawl: CrawlWithSettings): Promise<PreviousExport | undefined> {
  const { jobId, render, createdAt } = crawl.settings;
  const base = await openPreviousCrawl(deps, crawl);
  if (base === undefined || render !== 'http') return undefined;
  const links = deps.linksFor(jobId);
  const files = deps.previousFilesFor({ jobId, base });
  return { base, responses: createPreviousResponses({ links, logger: deps.logger }, files, createdAt) };
}

/** If requests must be spaced, or there are more pages than memory should hold, the normal crawl works better. */
function mayRevalidate(base: Crawl, settings: ExportSettings): boolean {
  return base.urlCount <= MAX_WHOLE && crawlDelayMs(settings) === 0;
}
