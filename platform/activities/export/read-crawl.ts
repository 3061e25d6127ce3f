import { ApplicationFailure } from '@temporalio/common';
import { type ExportSettings, readExportSettings } from '../../../exporter/settings.ts';
import { type CrawlRow, getCrawl } from '../../store/crawls.ts';
import type { Database } from '../../store/database.ts';

/** The failure type of work whose crawl is gone: the job has ended meanwhile, and trying again can't help. */
export const CRAWL_GONE = 'CrawlGone';

/** A job's crawl with the settings it began with. Throws a non-retryable failure where the job has ended. */
export async function readCrawl(db: Database, jobId: string): Promise<CrawlRow & { settings: ExportSettings }> {
  const row = await getCrawl(db, jobId);
  if (row === undefined) throw ApplicationFailure.nonRetryable(`The export ${jobId} has ended`, CRAWL_GONE);
  return { ...row, settings: readExportSettings(row.settingsJson) };
}
