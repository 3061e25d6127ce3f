import type { Logger } from 'pino';
import { createStoredUrlsOfJobs, type StoredUrls } from './crawl/stored-urls.ts';
import type { Crawl } from './crawl-records.ts';
import { type AddressGuard, createAddressGuard } from './fetch/address-guard.ts';
import { type Clock, systemClock } from './fetch/clock.ts';
import { createFetcher } from './fetch/fetcher.ts';
import { createOriginLimiter } from './fetch/origin-limiter.ts';
import { createJobMemory, createMemoryCheck, type JobMemory } from './job-cache.ts';
import { DEFAULT_LIMITS, type ExportLimits } from './limits.ts';
import type { CrawlStore, Fetcher, ObjectStore, Renderer } from './ports.ts';
import { type KnownFilesFor, rememberKnownFiles } from './reuse/known-files.ts';
import { type LinkTablesFor, rememberLinkTables } from './reuse/link-tables.ts';
import { type KnownPiecesFor, rememberKnownPieces } from './reuse/previous-pieces.ts';
import { createUrlMaps, type UrlMaps } from './rewrite/url-map.ts';
import { createSegmentStore, type SegmentStore } from './segments/segment-store.ts';
import type { ExportSettings } from './settings.ts';
import type { RunStage } from './stage.ts';

/** What the export's activities share within a process. */
export type ExportDeps = {
  store: CrawlStore;
  objects: ObjectStore;
  logger: Logger;
  limits: ExportLimits;
  clock: Clock;
  runStage: RunStage;
  segments: SegmentStore;
  /** What the fields below keep of jobs. */
  memory: JobMemory;
  /** Drops what is kept of a job that has begun anew since. */
  checkMemory(crawl: Pick<Crawl, 'jobId' | 'baseJobId'>): void;
  maps: UrlMaps;
  stored: { of(jobId: string): StoredUrls };
  linksFor: LinkTablesFor;
  knownFilesFor: KnownFilesFor;
  knownPiecesFor: KnownPiecesFor;
  /** A fetcher that may reach this site's origin; close it. */
  fetcherFor(site: Pick<ExportSettings, 'operatorHosts'>): Fetcher;
  /** Which addresses this site's export may reach. */
  guardFor(site: Pick<ExportSettings, 'operatorHosts'>): AddressGuard;
  /** For projects that are rendered or visited in a browser; undefined if this worker has none. */
  renderer: Renderer | undefined;
};

const USER_AGENT = 'Mozilla/5.0 (compatible; Galley/0.1; static export)';

/** What the stages of exports share in a process, over the given stores. */
export function createExportDeps(
  given: Pick<ExportDeps, 'store' | 'objects' | 'logger' | 'runStage'> & {
    /** Bounds that differ from the defaults. */
    limits?: Partial<ExportLimits> | undefined;
    clock?: Clock | undefined;
    renderer?: Renderer | undefined;
  },
): ExportDeps {
  const { store, objects, clock = systemClock } = given;
  const limits = { ...DEFAULT_LIMITS, ...given.limits };
  const limiter = createOriginLimiter({ initial: limits.initialConcurrency, max: limits.maxConcurrency, clock });
  const memory = createJobMemory();
  const linksFor = rememberLinkTables(objects, memory);
  const guardFor: ExportDeps['guardFor'] = ({ operatorHosts }) =>
    createAddressGuard({ operatorHosts: [...operatorHosts, ...limits.privateHosts] });
  return {
    ...given,
    limits,
    clock,
    renderer: given.renderer,
    segments: createSegmentStore({ objects, cacheBytes: limits.cacheBytes }),
    memory,
    checkMemory: createMemoryCheck(memory),
    maps: createUrlMaps(store, memory),
    linksFor,
    knownFilesFor: rememberKnownFiles(store, memory),
    knownPiecesFor: rememberKnownPieces({ ...given, linksFor }, memory),
    stored: createStoredUrlsOfJobs(memory),
    guardFor,
    fetcherFor: (site) =>
      createFetcher({
        guard: guardFor(site),
        limiter,
        clock,
        limits: {
          ...limits,
          maxBodyBytes: limits.maxFileBytes,
          maxConnectionsPerOrigin: limits.maxConcurrency,
          userAgent: USER_AGENT,
        },
      }),
  };
}
