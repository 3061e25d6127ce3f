import type { Logger } from 'pino';
import type { AddressGuard } from '../../../exporter/fetch/address-guard.ts';
import type { Clock } from '../../../exporter/fetch/clock.ts';
import type { Fetcher } from '../../../exporter/fetch/fetcher.ts';
import type { JobMemory } from '../../../exporter/job-memory.ts';
import type { ExportLimits } from '../../../exporter/limits.ts';
import type { BrowserPool } from '../../../exporter/render/browser-pool.ts';
import type { ExportSettings } from '../../../exporter/settings.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { CrawlRow } from '../../store/crawls.ts';
import type { Database } from '../../store/database.ts';
import type { StoredUrls } from './crawl/stored-urls.ts';
import type { KnownFilesFor } from './reuse/known-files.ts';
import type { KnownPiecesFor } from './reuse/known-pieces.ts';
import type { LinkTablesFor } from './reuse/link-tables.ts';
import type { UrlMaps } from './rewrite/url-map.ts';
import type { SegmentStore } from './segment-store.ts';

/** What the export's activities share within a process. */
export type ExportDeps = {
  db: Database;
  objects: ObjectStore;
  logger: Logger;
  limits: ExportLimits;
  clock: Clock;
  segments: SegmentStore;
  /** What the fields below keep of jobs. */
  memory: JobMemory;
  /** Drops what is kept of a job that has begun anew since. */
  checkMemory(crawl: Pick<CrawlRow, 'jobId' | 'baseJobId'>): void;
  maps: UrlMaps;
  stored: { of(jobId: string): StoredUrls };
  linksFor: LinkTablesFor;
  knownFilesFor: KnownFilesFor;
  knownPiecesFor: KnownPiecesFor;
  /** A fetcher that may reach this site's origin; close it. */
  fetcherFor(site: Pick<ExportSettings, 'operatorHosts'>): Fetcher;
  /** Which addresses this site's export may reach. */
  guardFor(site: Pick<ExportSettings, 'operatorHosts'>): AddressGuard;
  /** For projects that want a browser; undefined where this worker has none. */
  browser: BrowserPool | undefined;
};
