import { CONTENT_CODINGS } from '../../../contract/content-coding.ts';
import { getCrawl, openCrawl } from '../../store/crawls.ts';
import { markExportJobRunning } from '../../store/export-job-transitions.ts';
import { type ExportJobRow, requestedPaths } from '../../store/export-jobs.ts';
import type { FoundUrl } from '../../store/frontier.ts';
import { releaseLeases } from '../../store/frontier-leases.ts';
import { getProject, type Project } from '../../store/projects.ts';
import { type Lively, lively } from '../lively.ts';
import { needBrowser } from './browser/need-browser.ts';
import { createAdmission } from './crawl/admission.ts';
import { type CrawlPlan, crawlPlan } from './crawl/crawl-plan.ts';
import { notFoundUrl } from './crawl/not-found-page.ts';
import { putInLine } from './crawl/put-in-line.ts';
import { createStrongestUses } from './crawl/strongest-uses.ts';
import { type Discovery, discover } from './discovery/discover.ts';
import { type KeepingFetcher, keepAnswers } from './discovery/keep-answers.ts';
import { settleKept } from './discovery/settle-kept.ts';
import type { ExportDeps } from './export-deps.ts';
import type { ExportLimits } from './limits.ts';
import type { ResourceKind, Site } from './page/types.ts';
import { normalizeUrl, originUrl } from './page/url-identity.ts';
import { needCompressors } from './precompress/need-compressors.ts';
import { rankOf } from './resource-rank.ts';
import { engineVersion } from './reuse/engine-version.ts';
import { openBase } from './reuse/open-base.ts';
import { reuseKeyOf } from './reuse/reuse-key.ts';
import { type ExportSettings, readExportSettings } from './settings.ts';

export type OpenedExport =
  | { state: 'open'; domain: string; version: string; pageHints: number; plan: CrawlPlan; visitsSamples: boolean }
  /** The job ended before its workflow began, or there is none of that id. */
  | { state: 'over' };

/** Begins a job: reads its project, asks the origin for its rules and hints, and puts the first addresses in line. */
export async function openExport(deps: ExportDeps, jobId: string): Promise<OpenedExport> {
  return lively({ details: () => 'reading robots.txt and the sitemap', logger: deps.logger }, async (life) => {
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
    const fetcher = keepAnswers(deps.fetcherFor(wanted));
    try {
      const { maxUrls, maxAttempts } = deps.limits;
      const hints = await discover(fetcher, site, {
        ...{ signal, maxAttempts, maxPages: maxUrls },
        sitemaps: wanted.pages === null,
        robots: wanted.robots,
        robotsTxt: begun?.robotsTxt,
      });
      const settings: ExportSettings = begun ?? { ...wanted, robotsTxt: hints.robotsTxt };
      const { incremental } = project.settings;
      const crawl = await openCrawl(deps.db, {
        jobId,
        settingsJson: JSON.stringify(settings),
        projectId: project.id,
        reuseKey: reuseKeyOf(await engineVersion(deps.logger), settings, deps.limits),
        takes: incremental,
        // A part of a site is nothing that a later export of the whole could begin from.
        keep: incremental && settings.pages === null,
      });
      // Another release may have opened it, before this one was called anew.
      await openBase(deps, { ...crawl, settings });
      await seed(deps, settings, { hints, fetcher, life });
      return { ...openedAs(deps.limits, settings), pageHints: hints.pages.length };
    } finally {
      void fetcher.close();
    }
  });
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

/** Adds the first addresses; those that are there already stay as they are. What discovery has read is settled at once. */
async function seed(
  deps: ExportDeps,
  settings: ExportSettings,
  { hints, fetcher, life }: { hints: Discovery; fetcher: KeepingFetcher; life: Lively },
): Promise<void> {
  const { db, limits } = deps;
  const { jobId, site, pages } = settings;
  const { token, deadTokens, signal } = life;
  const home = `https://${site.domain}/`;
  const admission = createAdmission({ settings, limits, urlCount: 0, variants: new Map(), skips: new Map() });
  const entry = (url: string, kind: ResourceKind, foundOn: string | null, depth = 0): FoundUrl[] => {
    const found = admission.admit({ url, kind }, { url: '', depth: depth - 1 });
    if (found === undefined) return [];
    // A page that is to be drawn isn't settled here, though discovery may have come by it: /robots.txt may lead to it.
    const mayTake = found.skip === null && (settings.render === 'http' || found.rank === rankOf('probe'));
    const take = mayTake && fetcher.has(new URL(originUrl(url, site)));
    return [{ ...found, foundOn, take }];
  };
  const uses = createStrongestUses();
  for (const found of [
    ...(pages ?? [home]).flatMap((url) => entry(url, 'page', null)),
    // Whatever robots.txt and the paths say: a bundle always has a not-found page.
    { url: notFoundUrl(settings.site), rank: rankOf('page'), depth: 0, foundOn: null, skip: null, take: false },
    ...['favicon.ico', 'robots.txt'].flatMap((name) => entry(`${home}${name}`, 'probe', null)),
    ...hints.sitemaps.flatMap((url) => entry(url, 'probe', null)),
    ...hints.pages.flatMap(({ url, foundOn }) => entry(url, 'page', foundOn, 1)),
  ])
    uses.add(found);
  if (deadTokens.length > 0) await releaseLeases(db, jobId, deadTokens);
  const leased = await putInLine(db, { jobId, token, leaseMs: limits.leaseMs }, uses.list());
  await settleKept(deps, { settings, token, leased, fetcher, admission, signal });
}
