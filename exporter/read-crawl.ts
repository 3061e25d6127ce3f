import type { Crawl } from './crawl-records.ts';
import { ExportFailure } from './export-failure.ts';
import type { CrawlStore } from './ports.ts';
import { type ExportSettings, readExportSettings } from './settings.ts';

export type CrawlWithSettings = Crawl & { settings: ExportSettings };

/** A job's crawl with the settings it began with. Throws `CrawlGone` if the job has ended. */
export async function readCrawl(store: CrawlStore, jobId: string): Promise<CrawlWithSettings> {
  const row = await store.getCrawl(jobId);
  if (row === undefined) throw new ExportFailure('CrawlGone', `The export ${jobId} has ended`);
  return { ...row, settings: readExportSettings(row.settingsJson) };
}
