import { sideBySide } from '../concurrency.ts';
import type { Crawl } from '../crawl-records.ts';
import type { ExportDeps } from '../export-deps.ts';
import type { ExportLimits } from '../limits.ts';
import { needBrowser } from '../render/find-browser.ts';
import { engineVersion, openPreviousCrawl, reuseKeyOf } from '../reuse/reuse-key.ts';
import { needCompressors } from '../rewrite/precompress.ts';
import { type ExportSettings, readExportSettings } from '../settings.ts';
import { type Discovery, discover } from './discover.ts';
import { createFirstUrls } from './first-urls.ts';
import { keepResponses } from './keep-responses.ts';
import { type CrawlPlan, crawlDelayMs, crawlPlan, readRules } from './site-rules.ts';

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
  deps: ExportDeps,
  jobId: string,
  readRequest: () => Promise<ExportRequest | undefined>,
): Promise<OpenedExport> {
  return deps.runStage({ jobId, details: () => 'reading robots.txt and the sitemap' }, async (run) => {
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
      const settings: ExportSettings = begun ?? { ...wanted, robotsTxt };
      fetcher.space(site.origin, crawlDelayMs(settings));
      if (run.previousAttemptTokens.length > 0) await deps.store.releaseLeases(jobId, run.previousAttemptTokens);
      const first = createFirstUrls(deps, { settings, token: run.token, fetcher });
      const [hints] = await sideBySide(
        signal,
        async (either) =>
          settings.pages === null
            ? discover(fetcher, site, { robotsTxt, maxAttempts, maxPages: maxUrls, signal: either })
            : NO_HINTS,
        async (either) => {
          const base = await openWithBase(deps, request, settings);
          // If there is a previous export, the crawl revalidates the start pages.
          await first.begin({ visitStart: base === undefined, signal: either });
        },
      );
      await first.end(hints, signal);
      return { ...openedAs(deps.limits, settings), pageHints: hints.pages.length };
    } finally {
      void fetcher.close();
    }
  });
}

const NO_HINTS: Discovery = { sitemaps: [], pages: [] };

/** Opens the job's crawl if it isn't open yet. Returns the kept crawl that it reuses, if there is one. */
async function openWithBase(
  deps: ExportDeps,
  { projectId, incremental }: ExportRequest,
  settings: ExportSettings,
): Promise<Crawl | undefined> {
  const crawl = await deps.store.openCrawl({
    jobId: settings.jobId,
    settingsJson: JSON.stringify(settings),
    projectId,
    reuseKey: reuseKeyOf(await engineVersion(deps.logger), settings, deps.limits),
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
