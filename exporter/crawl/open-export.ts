import { needCompressors } from '../assemble/precompress.ts';
import { sideBySide } from '../concurrency.ts';
import type { Crawl, FoundUrl, Visited } from '../crawl-records.ts';
import { documentFormat } from '../document/document.ts';
import { type KeepingFetcher, keepResponses } from '../fetch/caching-fetcher.ts';
import type { ExportLimits } from '../limits.ts';
import type { Fetcher } from '../ports.ts';
import { needBrowser } from '../render/find-browser.ts';
import { engineVersion } from '../reuse/engine-version.ts';
import { openPreviousCrawl, reuseKeyOf } from '../reuse/reuse-key.ts';
import { type ExportSettings, readExportSettings } from '../settings.ts';
import { depsOfAttempt, withLeases } from '../stage.ts';
import { noJekyllUrl, notFoundUrl } from '../urls/assign-path.ts';
import type { ResourceKind, Site } from '../urls/identity.ts';
import { isOfSite, originUrl } from '../urls/identity.ts';
import { rankOf } from '../urls/resource-rank.ts';
import { crawlDelayMs, type RobotsSettings, robotsOf } from '../urls/robots.ts';
import { TWIN_FORMS, type TwinForm, twinUrl } from '../urls/twin-url.ts';
import { createCrawlScope } from './crawl-scope.ts';
import { type Discovery, discover } from './discover.ts';
import { createModuleReader } from './read-response.ts';
import { createStrongestUses, enqueueUrls, settleVisits } from './report-urls.ts';
import { type CrawlPlan, crawlPlan, readRules } from './site-rules.ts';
import { type VisitingStageDeps, visit } from './visit.ts';

export type OpenedExport =
  | { state: 'open'; domain: string; version: string; pageHints: number; plan: CrawlPlan; visitsSamples: boolean }
  /** The job ended before its workflow began, or there is none of that id. */
  | { state: 'over' };

/** What is to be exported. */
export type ExportRequest = {
  projectId: string;
  settings: Omit<ExportSettings, 'robotsTxt'>;
  /** Whether to reuse the project's previous export. */
  incremental: boolean;
};

/**
 * Begins a job: requests the origin's robots.txt and sitemaps, and enqueues the first URLs. `readRequest` returns
 * undefined if the job is over.
 */
export async function openExport(
  given: VisitingStageDeps,
  jobId: string,
  readRequest: () => Promise<ExportRequest | undefined>,
): Promise<OpenedExport> {
  return given.runStage({ jobId, details: () => 'reading robots.txt and the sitemap' }, async (run) => {
    const deps = depsOfAttempt(given, run);
    const { signal } = run;
    const request = await readRequest();
    if (request === undefined) return { state: 'over' };

    // A resumed export keeps its settings, even if its project has changed since.
    const known = await deps.store.getCrawl(jobId);
    const begun = known && readExportSettings(known.settingsJson);
    const wanted = begun ?? request.settings;
    const { site } = wanted;
    if (wanted.render === 'browser') await needBrowser(deps.renderer);
    needCompressors(wanted.precompress);
    const fetcher = keepResponses(deps.fetcherFor(wanted), deps.limits.maxBufferedBytes);
    try {
      const { maxUrls, maxAttempts } = deps.limits;
      const { robots } = wanted;
      const robotsTxt = begun?.robotsTxt ?? (await readRules(fetcher, site, { robots, maxAttempts, signal }));
      const rules = { robots, robotsTxt };
      fetcher.space(site.origin, crawlDelayMs(rules));
      const discovering = { robotsTxt, maxAttempts, maxPages: maxUrls };
      const listed = async () =>
        (await discover({ ...deps.computing, fetcher }, site, { ...discovering, signal })).pages.map(({ url }) => url);
      // If the origin wants pauses, guesses are too expensive.
      const findsTwins = begun === undefined && crawlDelayMs(rules) === 0;
      const twins = findsTwins ? await findTwins(fetcher, { ...wanted, ...rules }, { listed, signal }) : null;
      const settings: ExportSettings = begun ?? { ...wanted, robotsTxt, twins };
      const first = createFirstUrls(deps, { settings, token: run.token, fetcher });
      return await withLeases(deps, { jobId, token: run.token }, async () => {
        const [hints] = await sideBySide(
          signal,
          async (either) =>
            settings.pages === null
              ? discover({ ...deps.computing, fetcher }, site, { ...discovering, signal: either })
              : NO_HINTS,
          async (either) => {
            const base = await openWithBase(deps, request, settings);
            // If there is a previous export, the crawl revalidates the start pages.
            await first.begin({ visitStart: base === undefined, signal: either });
          },
        );
        await first.end(hints, signal);
        return { ...openedAs(deps.limits, settings), pageHints: hints.pages.length };
      });
    } finally {
      void fetcher.close();
    }
  });
}

/** The reuse key of an export that neither reuses another one nor is kept. */
const NO_REUSE = '';

const NO_HINTS: Discovery = { sitemaps: [], pages: [] };

/** Opens the job's crawl if it isn't open yet. Returns the kept crawl that it reuses, if there is one. */
async function openWithBase(
  deps: VisitingStageDeps,
  { projectId, incremental }: ExportRequest,
  settings: ExportSettings,
): Promise<Crawl | undefined> {
  const crawl = await deps.store.openCrawl({
    jobId: settings.jobId,
    settingsJson: JSON.stringify(settings),
    projectId,
    // Computing it takes as long as exporting some ten pages.
    reuseKey: incremental ? reuseKeyOf(await engineVersion(deps.logger), settings, deps.limits) : NO_REUSE,
    takes: incremental,
    // An export of some pages is no base for a later export of the whole site.
    keep: incremental && settings.pages === null,
  });
  // On a retry, another release may have opened the crawl.
  return openPreviousCrawl(deps, { ...crawl, settings });
}

/** What a workflow needs to know about an export with these settings. */
export function openedAs(limits: ExportLimits, settings: ExportSettings): Extract<OpenedExport, { state: 'open' }> {
  return {
    state: 'open',
    domain: settings.site.domain,
    version: settings.version,
    pageHints: 0,
    plan: crawlPlan(limits, settings),
    visitsSamples: settings.discover === 'browser',
  };
}

/** Enqueues a job's first URLs; URLs that are already queued don't change. Call each method once, in this order. */
type FirstUrls = {
  /** Enqueues the start pages, the not-found page, and the URLs that are tried on every site. */
  begin(options: {
    /** Whether to visit start pages immediately, if they needn't be rendered. */
    visitStart: boolean;
    signal: AbortSignal;
  }): Promise<void>;
  /** Enqueues the URLs from sitemaps and those of the visits so far, and settles what discovery has already fetched. */
  end(hints: Discovery, signal: AbortSignal): Promise<void>;
};

/** Start pages that are visited before the crawl begins; the crawl visits the others. */
const MAX_VISITED = 4;

function createFirstUrls(
  deps: VisitingStageDeps,
  { settings, token, fetcher }: { settings: ExportSettings; token: string; fetcher: KeepingFetcher },
): FirstUrls {
  const { store, limits } = deps;
  const { jobId, site, pages, render } = settings;
  const lease = { jobId, token, leaseMs: limits.leaseMs };
  const home = `https://${site.domain}/`;
  const scope = createCrawlScope({
    settings,
    limits,
    urlCount: 0,
    variants: new Map(),
    skips: new Map(),
    guessCount: 0,
  });
  const started: Visited[] = [];

  function entry(url: string, kind: ResourceKind, foundOn: string | null = null, depth = 0): FoundUrl[] {
    const found = scope.admit({ url, kind }, { url: '', depth: depth - 1 });
    if (found === undefined) return [];
    return [{ ...found, foundOn, take: mayVisit(found) && fetcher.has(new URL(originUrl(url, site))) }];
  }

  /** Rendered pages aren't visited here, even if discovery has their response (/robots.txt may redirect to one). */
  function mayVisit({ skip, rank }: FoundUrl): boolean {
    return skip === null && (render === 'http' || rank === rankOf('probe'));
  }

  async function visitThoseTaken(found: readonly FoundUrl[], signal: AbortSignal): Promise<Visited[]> {
    const uses = createStrongestUses();
    for (const each of found) uses.add(each);
    const leased = await enqueueUrls(store, lease, uses.list());
    const reading = { ...deps, fetcher, importsOf: createModuleReader({ ...deps, fetcher }, settings, signal) };
    return Promise.all(leased.map((each) => visit(reading, { settings, leased: each, signal })));
  }

  return {
    async begin({ visitStart, signal }) {
      const starts = (pages ?? [home]).flatMap((url) => entry(url, 'page'));
      if (visitStart) for (const each of starts.filter(mayVisit).slice(0, MAX_VISITED)) each.take = true;
      const found = [
        ...starts,
        // A bundle always has a not-found page, whatever robots.txt and the paths say.
        { url: notFoundUrl(site), rank: rankOf('page'), depth: 0, foundOn: null, skip: null, take: false },
        { url: noJekyllUrl(site), rank: rankOf('asset'), depth: 0, foundOn: null, skip: null, take: false },
        ...['favicon.ico', 'robots.txt', 'llms.txt', 'llms-full.txt'].flatMap((name) =>
          entry(`${home}${name}`, 'probe'),
        ),
      ];
      started.push(...(await visitThoseTaken(found, signal)));
    },

    async end(hints, signal) {
      const found = [
        ...hints.sitemaps.flatMap((url) => entry(url, 'probe')),
        ...hints.pages.flatMap(({ url, foundOn }) => entry(url, 'page', foundOn, 1)),
      ];
      const visits = [...started, ...(await visitThoseTaken(found, signal))];
      if (visits.length > 0) await settleVisits(deps, { lease, scope, visits });
    },
  };
}

/** The pages that are tried. */
const MAX_TRIED = 5;

/**
 * Tries the first pages of a site for twins in Markdown: the form that all of them have, or null. `listed` gives the pages
 * of the sitemap, and is called only if the first page has a twin. Rejects only with the signal's reason.
 */
async function findTwins(
  fetcher: Fetcher,
  settings: RobotsSettings & { site: Site; pages: readonly string[] | null },
  { listed, signal }: { listed: () => Promise<string[]>; signal: AbortSignal },
): Promise<TwinForm | null> {
  const { site, pages } = settings;
  const robots = robotsOf(settings);
  const [first = `https://${site.domain}/`, ...requested] = pages ?? [];
  const atFirst = await Promise.all(TWIN_FORMS.map((form) => hasTwin(first, form)));
  if (!atFirst.includes(true)) return null;
  const all = pages === null ? await listed() : requested;
  const others = [...new Set(all)].filter((url) => url !== first && isOfSite(url, site)).slice(0, MAX_TRIED - 1);
  for (const form of TWIN_FORMS.filter((_, index) => atFirst[index])) {
    const found = await Promise.all(others.map((page) => hasTwin(page, form)));
    if (found.every((each) => each)) return form;
  }
  return null;

  async function hasTwin(page: string, form: TwinForm): Promise<boolean> {
    const url = twinUrl(page, form);
    if (!robots.isAllowed(new URL(url).pathname)) return false;
    const fetched = await fetcher.get(new URL(originUrl(url, site)), { signal });
    signal.throwIfAborted();
    return fetched.kind === 'response' && documentFormat(fetched.contentType, url) === 'markdown';
  }
}
