import type { Logger } from 'pino';
import type { ExportReport } from '../../contract/admin-api.ts';
import { reportKey } from '../object-keys.ts';
import type { CrawlStore, ObjectStore } from '../ports.ts';
import { type ExportSettings, readExportSettings } from '../settings.ts';
import { isOfSite } from '../urls/identity.ts';
import { rankOf, SKIPPED_RANK } from '../urls/resource-rank.ts';
import { ruleOfReason } from '../urls/skip-rules.ts';
import { createBrokenLinks } from './broken-links.ts';

/** The maximum number of entries per list of the report; the counts are complete. */
const MAX_ENTRIES = 10_000;
/** Examples of the URLs that one rule skipped. */
const MAX_EXAMPLES = 10;

/** The export's report: broken links, the site's redirects, and the skipped pages with the reasons. */
export async function createReport(
  store: CrawlStore,
  settings: ExportSettings,
  { skippedCount }: { skippedCount: number },
): Promise<ExportReport> {
  const { jobId, site } = settings;
  const broken = createBrokenLinks();
  for await (const brokenJson of store.brokenOfBatches(jobId)) broken.merge(JSON.parse(brokenJson));

  const select = { jobId, limit: MAX_ENTRIES };
  // Leaves out guessed URLs and preview images (`probe`, `card`), because readers don't follow them.
  const missing = await store.reportedUrls({ ...select, outcome: 'missing', minRank: rankOf('identity') });
  const redirects = await store.reportedUrls({ ...select, outcome: 'redirect', minRank: rankOf('identity') });
  const skipped = await store.reportedUrls({ ...select, outcome: 'skipped', minRank: SKIPPED_RANK });
  return {
    jobId,
    brokenLinks: missing.rows.map(({ url, reason, status, foundOn }) => ({
      url,
      reason: reason ?? 'no response',
      status,
      referrers: [...new Set([...broken.referrersOf(url), ...(foundOn === null ? [] : [foundOn])])],
    })),
    redirects: redirects.rows
      .filter(({ url }) => isOfSite(url, site))
      .map(({ url, redirectTo, status }) => ({ from: url, to: redirectTo ?? '', status: status ?? 302 })),
    leftOut: (await store.skipsByReason(jobId, MAX_EXAMPLES)).map((skips) => ({
      rule: ruleOfReason(skips.reason),
      ...skips,
    })),
    notices: await store.listNotices(jobId),
    skippedPages: skipped.rows.map(({ url, reason }) => ({ url, reason: reason ?? '' })),
    truncated: [missing, redirects, skipped].some(({ rows, total }) => total > rows.length),
    counts: {
      brokenLinks: missing.total,
      redirects: redirects.total,
      skippedPages: Math.max(skipped.total, skippedCount),
    },
  };
}

/**
 * Stores the report of a job that is about to fail: what its crawl has found so far. Returns the object's key, or null
 * if there is no crawl. If the report can't be stored, logs that, because the job must end anyway.
 */
export async function storeFailedReport(
  { store, objects, logger }: { store: CrawlStore; objects: ObjectStore; logger: Logger },
  jobId: string,
): Promise<string | null> {
  try {
    const crawl = await store.getCrawl(jobId);
    if (crawl === undefined) return null;
    const report = await createReport(store, readExportSettings(crawl.settingsJson), crawl);
    const key = reportKey(jobId);
    await objects.put(key, Buffer.from(JSON.stringify(report)), { contentType: 'application/json' });
    return key;
  } catch (error) {
    logger.warn({ err: error, jobId }, 'The report of a failed export could not be stored');
    return null;
  }
}
