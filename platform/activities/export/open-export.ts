import { CONTENT_CODINGS } from '../../../contract/content-coding.ts';
import { keepAnswers } from '../../../exporter/discover/keep-answers.ts';
import { sideBySide } from '../../../exporter/discover/side-by-side.ts';
import type { Site } from '../../../exporter/document/types.ts';
import { normalizeUrl } from '../../../exporter/document/url-identity.ts';
import type { ExportLimits } from '../../../exporter/limits.ts';
import { type ExportSettings, readExportSettings } from '../../../exporter/settings.ts';
import { type CrawlRow, getCrawl, openCrawl } from '../../store/crawls.ts';
import { markExportJobRunning } from '../../store/export-job-transitions.ts';
import { type ExportJobRow, requestedPaths } from '../../store/export-jobs.ts';
import { releaseLeases } from '../../store/frontier-leases.ts';
import { getProject, type Project } from '../../store/projects.ts';
import { needBrowser } from './browser/need-browser.ts';
import { type CrawlPlan, crawlDelayMs, crawlPlan } from './crawl/crawl-plan.ts';
import { type Discovery, discover } from './discovery/discover.ts';
import { createFirstAddresses } from './discovery/first-addresses.ts';
import { readRules } from './discovery/read-rules.ts';
import type { ExportDeps } from './export-deps.ts';
import { exportStage } from './export-stage.ts';
import { needCompressors } from './precompress/need-compressors.ts';
import { engineVersion } from './reuse/engine-version.ts';
import { openBase } from './reuse/open-base.ts';
import { reuseKeyOf } from './reuse/reuse-key.ts';

export type OpenedExport =
  | { state: 'open'; domain: string; version: string; pageHints: number; plan: CrawlPlan; visitsSamples: boolean }
  /** The job ended before its workflow began, or there is none of that id. */
  | { state: 'over' };

/** Begins a job: reads its project, asks the origin for its rules and hints, and puts the first addresses in line. */
export async function openExport(deps: ExportDeps, jobId: string): Promise<OpenedExport> {
  return exportStage(deps, { jobId, details: () => 'reading robots.txt and the sitemap' }, async (life) => {
    const { signal } = life;
    const job = await markExportJobRunning(deps.db, jobId);
    if (job?.status !== 'running') return { state: 'over' };
    const project = await getProject(deps.db, job.projectId);
    if (project === undefined) return { state: 'over' };

    // An export goes on as it began, whatever its project was changed to since.
    const known = await getCrawl(deps.db, jobId);
    const begun = known && readExportSettings(known.settingsJson);
    const wanted = begun ?? settingsOf(job, project, siteOf(job.domain, project));
    const { site } = wanted;
    if (wanted.render === 'browser') await needBrowser(deps.browser);
    needCompressors(wanted.precompress);
    const fetcher = keepAnswers(deps.fetcherFor(wanted), deps.limits.maxBufferedBytes);
    try {
      const { maxUrls, maxAttempts } = deps.limits;
      const { robots } = wanted;
      const robotsTxt = begun?.robotsTxt ?? (await readRules(fetcher, site, { robots, maxAttempts, signal }));
      const settings: ExportSettings = begun ?? { ...wanted, robotsTxt };
      fetcher.space(site.origin, crawlDelayMs(settings));
      if (life.deadTokens.length > 0) await releaseLeases(deps.db, jobId, life.deadTokens);
      const first = createFirstAddresses(deps, { settings, token: life.token, fetcher });
      const [hints] = await sideBySide(
        signal,
        async (either) =>
          settings.pages === null
            ? discover(fetcher, site, { robotsTxt, maxAttempts, maxPages: maxUrls, signal: either })
            : NO_HINTS,
        async (either) => {
          const base = await openWithBase(deps, { project, settings });
          // What the last export knows of a start page is the crawl's to use.
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

/** Opens the job's crawl, where that isn't done yet. Returns the kept crawl that it takes from, if there is one. */
async function openWithBase(
  deps: ExportDeps,
  { project, settings }: { project: Project; settings: ExportSettings },
): Promise<CrawlRow | undefined> {
  const { incremental } = project.settings;
  const crawl = await openCrawl(deps.db, {
    jobId: settings.jobId,
    settingsJson: JSON.stringify(settings),
    projectId: project.id,
    reuseKey: reuseKeyOf(await engineVersion(deps.logger), settings, deps.limits),
    takes: incremental,
    // A part of a site is nothing that a later export of the whole could begin from.
    keep: incremental && settings.pages === null,
  });
  // Another release may have opened it, before this one was called anew.
  return openBase(deps, { ...crawl, settings });
}

/** What a workflow needs to know of an export with these settings. */
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

function siteOf(domain: string, project: Project): Site {
  return { domain, origin: project.origin === null ? `https://${domain}` : new URL(project.origin).origin };
}

function settingsOf(job: ExportJobRow, project: Project, site: Site): Omit<ExportSettings, 'robotsTxt'> {
  const { external, scripts, sourceMaps, robots, render, discover, precompress } = project.settings;
  const home = `https://${job.domain}/`;
  const paths = requestedPaths(job);
  return {
    jobId: job.id,
    version: job.version,
    createdAt: job.createdAt.toISOString(),
    site,
    operatorHosts: project.origin === null ? [] : [hostAndPort(new URL(project.origin))],
    external: external === 'keep' ? 'keep' : 'bundle',
    keepHosts: Array.isArray(external) ? external : [],
    scripts,
    sourceMaps,
    robots,
    render,
    discover,
    precompress: CONTENT_CODINGS.filter((coding) => precompress.includes(coding)),
    pages: paths === null ? null : paths.flatMap((path) => normalizeUrl(path, site, home) ?? []),
  };
}

function hostAndPort(origin: URL): string {
  const defaultPort = origin.protocol === 'https:' ? '443' : '80';
  return `${origin.hostname}:${origin.port === '' ? defaultPort : origin.port}`;
}
