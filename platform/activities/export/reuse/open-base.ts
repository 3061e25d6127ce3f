import type { Logger } from 'pino';
import type { ExportLimits } from '../../../../exporter/limits.ts';
import type { ExportSettings } from '../../../../exporter/settings.ts';
import { type CrawlRow, getCrawl } from '../../../store/crawls.ts';
import type { Database } from '../../../store/database.ts';
import { spoilCrawl } from '../../../store/kept-crawls.ts';
import { engineVersion } from './engine-version.ts';
import { reuseKeyOf } from './reuse-key.ts';

export type BaseDeps = { db: Database; logger: Logger; limits: ExportLimits };

/**
 * The kept crawl that this worker may take from for a job; undefined where there is none. A worker whose release or
 * limits differ from those that the job began with takes nothing, and what it has a part in isn't kept: every stage
 * calls this.
 */
export async function openBase(
  { db, logger, limits }: BaseDeps,
  crawl: CrawlRow & { settings: ExportSettings },
): Promise<CrawlRow | undefined> {
  const ownKey = reuseKeyOf(await engineVersion(logger), crawl.settings, limits);
  if (crawl.reuseKey !== ownKey) {
    if (crawl.keep) await spoilCrawl(db, crawl.jobId);
    return undefined;
  }
  return crawl.baseJobId === null ? undefined : getCrawl(db, crawl.baseJobId);
}
