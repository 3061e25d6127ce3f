import type { Logger } from 'pino';
import type { Crawl } from '../crawl-records.ts';
import type { ExportLimits } from '../limits.ts';
import type { CrawlStore } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';
import { engineVersion } from './engine-version.ts';
import { reuseKeyOf } from './reuse-key.ts';

export type BaseDeps = { store: CrawlStore; logger: Logger; limits: ExportLimits };

/**
 * The kept crawl that this worker may take from for a job; undefined where there is none. A worker whose release or
 * limits differ from those that the job began with takes nothing, and what it has a part in isn't kept: every stage
 * calls this.
 */
export async function openBase(
  { store, logger, limits }: BaseDeps,
  crawl: Crawl & { settings: ExportSettings },
): Promise<Crawl | undefined> {
  const ownKey = reuseKeyOf(await engineVersion(logger), crawl.settings, limits);
  if (crawl.reuseKey !== ownKey) {
    if (crawl.keep) await store.spoilCrawl(crawl.jobId);
    return undefined;
  }
  return crawl.baseJobId === null ? undefined : store.getCrawl(crawl.baseJobId);
}
