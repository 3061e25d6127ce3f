import type { Logger } from 'pino';
import { reportKey } from '../object-keys.ts';
import type { CrawlStore, ObjectStore } from '../ports.ts';
import { readExportSettings } from '../settings.ts';
import { createReport } from './report.ts';

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
