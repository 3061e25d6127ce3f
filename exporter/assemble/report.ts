import type { Logger } from 'pino';
import type { ExportReport } from '../../contract/admin-api.ts';
import { SITEMAP_MADE } from '../crawl-records.ts';
import { reportKey, workPrefix } from '../object-keys.ts';
import type { CrawlStore, ExportObjects } from '../ports.ts';
import { planSearch, type SearchPlan } from '../search/plan-search.ts';
import { type ExportSettings, readExportSettings } from '../settings.ts';
import { SEARCH_FOLDER } from '../urls/assign-path.ts';
import { isOfSite } from '../urls/identity.ts';
import { rankOf } from '../urls/resource-rank.ts';
import { ruleOfReason } from '../urls/skip-rules.ts';
import type { BrokenAnchors } from './broken-anchors.ts';
import { type BrokenLinks, createBrokenLinks } from './broken-links.ts';
import type { SearchResult } from './pieces.ts';

/** The maximum number of entries per list of the report; the counts are complete. */
const MAX_ENTRIES = 10_000;
/** Examples of the URLs that one rule skipped. */
const MAX_EXAMPLES = 10;

/**
 * The export's report: broken links, the site's redirects, and the skipped pages with the reasons. `broken`,
 * `brokenAnchors`, `unread`, `originUrls`: those of the bundle's files. `reusedCount`: how many files an earlier export had stored.
 */
export async function createReport(
  store: CrawlStore,
  settings: ExportSettings,
  found: {
    skippedCount: number;
    broken: BrokenLinks;
    brokenAnchors: BrokenAnchors;
    search?: SearchResult | undefined;
    markdown?: { fetched: number; made: number } | undefined;
  } & Pick<ExportReport, 'unread' | 'originUrls'>,
): Promise<{ report: ExportReport; reusedCount: number }> {
  const { jobId, site } = settings;
  const { missing, redirects, skipped, unread, skips, notices, reusedCount } = await store.crawlFindings({
    jobId,
    // Leaves out guessed URLs and preview images (`probe`, `card`), because readers don't follow them.
    minRank: rankOf('identity'),
    limit: MAX_ENTRIES,
    maxExamples: MAX_EXAMPLES,
    ownPrefix: workPrefix(jobId),
  });
  const allUnread = [...unread.rows.map(({ url, reason }) => ({ url, reason: reason ?? '' })), ...found.unread];
  const report = {
    jobId,
    brokenLinks: missing.rows.map(({ url, reason, status, foundOn }) => ({
      url,
      reason: reason ?? 'no response',
      status,
      referrers: [...new Set([...found.broken.referrersOf(url), ...(foundOn === null ? [] : [foundOn])])],
    })),
    brokenAnchors: found.brokenAnchors.listed,
    redirects: redirects.rows
      .filter(({ url }) => isOfSite(url, site))
      .map(({ url, redirectTo, status }) => ({ from: url, to: redirectTo ?? '', status: status ?? 302 })),
    leftOut: skips.map((each) => ({ rule: ruleOfReason(each.reason), ...each })),
    unread: allUnread.slice(0, MAX_ENTRIES),
    originUrls: found.originUrls.slice(0, MAX_ENTRIES),
    notices: notices.filter(({ text }) => text !== SITEMAP_MADE),
    ...reportedSearch(await planSearch(store, settings), found.search),
    ...(found.markdown !== undefined && { markdown: found.markdown }),
    ...(notices.some(({ text }) => text === SITEMAP_MADE) && { sitemapMade: true }),
    skippedPages: skipped.rows.map(({ url, reason }) => ({ url, reason: reason ?? '' })),
    truncated:
      allUnread.length > MAX_ENTRIES ||
      found.originUrls.length > MAX_ENTRIES ||
      found.brokenAnchors.count > found.brokenAnchors.listed.length ||
      [missing, redirects, skipped, unread].some(({ rows, total }) => total > rows.length),
    counts: {
      brokenLinks: missing.total,
      brokenAnchors: found.brokenAnchors.count,
      redirects: redirects.total,
      skippedPages: Math.max(skipped.total, found.skippedCount),
      originUrls: found.originUrls.reduce((sum, { count }) => sum + count, 0),
    },
  };
  return { report, reusedCount };
}

/** What became of the search; nothing if none was wanted. */
function reportedSearch(plan: SearchPlan, made: SearchResult | undefined): Pick<ExportReport, 'search'> {
  if (plan.kind === 'off') return {};
  const nothing = { index: null, languages: [], reason: null };
  if (plan.kind === 'own') {
    const reason = `the site has an offline search of its own (${plan.name})`;
    return { search: { ...nothing, state: 'own', index: plan.index, reason } };
  }
  if (plan.kind === 'taken') {
    return { search: { ...nothing, state: 'failed', reason: `the site has a file of its own at ${plan.path}` } };
  }
  if (made === undefined) return { search: { ...nothing, state: 'failed', reason: 'the export ended before' } };
  if ('failure' in made) return { search: { ...nothing, state: 'failed', reason: made.failure } };
  return { search: { ...nothing, state: 'made', index: SEARCH_FOLDER, languages: made.languages } };
}

/**
 * Stores the report of a job that is about to fail: what its crawl has found so far. Returns the object's key, or null
 * if there is no crawl. If the report can't be stored, logs that, because the job must end anyway.
 */
export async function storeFailedReport(
  { store, objects, logger }: { store: CrawlStore; objects: ExportObjects; logger: Logger },
  jobId: string,
): Promise<string | null> {
  try {
    const crawl = await store.getCrawl(jobId);
    if (crawl === undefined) return null;
    const broken = createBrokenLinks();
    for await (const { brokenJson } of store.settledBatches(jobId)) broken.merge(JSON.parse(brokenJson));
    const { report } = await createReport(store, readExportSettings(crawl.settingsJson), {
      ...crawl,
      ...{ broken, brokenAnchors: { count: 0, listed: [] }, unread: [], originUrls: [] },
    });
    const key = reportKey(jobId);
    await objects.put(key, Buffer.from(JSON.stringify(report)), { contentType: 'application/json' });
    return key;
  } catch (error) {
    logger.warn({ err: error, jobId }, 'The report of a failed export could not be stored');
    return null;
  }
}
