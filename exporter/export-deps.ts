import type { Logger } from 'pino';
import type { BundleSigner } from '../contract/signing.ts';
import { type PreviousPiecesFor, rememberPreviousPieces } from './assemble/previous-pieces.ts';
import { createUrlMaps, type UrlMaps } from './assemble/url-map.ts';
import { createStoredUrlsOfJobs, type StoredUrls } from './crawl/report-urls.ts';
import type { Crawl } from './crawl-records.ts';
import { type AddressGuard, createAddressGuard } from './fetch/address-guard.ts';
import { type Clock, systemClock } from './fetch/clock.ts';
import { createFetcher } from './fetch/fetcher.ts';
import { createOriginLimiter } from './fetch/origin-limiter.ts';
import { createJobCache, createRestartCheck, type JobCache } from './job-cache.ts';
import { DEFAULT_LIMITS, type ExportLimits } from './limits.ts';
import type { CrawlStore, Fetcher, ObjectStore, Renderer } from './ports.ts';
import { type LinkTablesFor, rememberLinkTables } from './reuse/link-tables.ts';
import { type PreviousFilesFor, rememberPreviousFiles } from './reuse/previous-responses.ts';
import type { ExportSettings } from './settings.ts';
import type { RunStage } from './stage.ts';
import { createSegmentStore, type SegmentStore } from './store/segment-store.ts';
import { type Computing, createComputing } from './threads/computing.ts';

/** What the stages of exports share within a process. */
export type ExportDeps = {
  store: CrawlStore;
  objects: ObjectStore;
  logger: Logger;
  limits: ExportLimits;
  clock: Clock;
  runStage: RunStage;
  computing: Computing;
  segments: SegmentStore;
  /** Holds what the fields below cache of jobs. */
  jobCache: JobCache;
  /** Drops what is cached of a job that was restarted since. */
  forgetIfRestarted(crawl: Pick<Crawl, 'jobId' | 'baseJobId'>): void;
  maps: UrlMaps;
  stored: { of(jobId: string): StoredUrls };
  linksFor: LinkTablesFor;
  previousFilesFor: PreviousFilesFor;
  previousPiecesFor: PreviousPiecesFor;
  /** A fetcher that may reach this site's origin; close it. */
  fetcherFor(site: Pick<ExportSettings, 'operatorHosts'>): Fetcher;
  /** Which addresses this site's export may reach. */
  guardFor(site: Pick<ExportSettings, 'operatorHosts'>): AddressGuard;
  /** For projects that are rendered or visited in a browser; undefined if this worker has none. */
  renderer: Renderer | undefined;
  /** Signs the manifests of bundles; undefined: they are unsigned. */
  signer: BundleSigner | undefined;
};

const USER_AGENT = 'Mozilla/5.0 (compatible; Galley/0.1; static export)';

/** What the stages of exports share in a process, over the given stores. */
export function createExportDeps(
  given: Pick<ExportDeps, 'store' | 'objects' | 'logger' | 'runStage'> & {
    /** Bounds that differ from the defaults. */
    limits?: Partial<ExportLimits> | undefined;
    clock?: Clock | undefined;
    renderer?: Renderer | undefined;
    signer?: BundleSigner | undefined;
    computing?: Computing | undefined;
  },
): ExportDeps {
  const { store, objects, clock = systemClock } = given;
  const limits = { ...DEFAULT_LIMITS, ...given.limits };
  const limiter = createOriginLimiter({ initial: limits.initialConcurrency, max: limits.maxConcurrency, clock });
  const jobCache = createJobCache();
  const linksFor = rememberLinkTables(objects, jobCache);
  const guardFor: ExportDeps['guardFor'] = ({ operatorHosts }) =>
    createAddressGuard({ operatorHosts: [...operatorHosts, ...limits.privateHosts] });
  return {
    ...given,
    limits,
    clock,
    renderer: given.renderer,
    signer: given.signer,
    computing: given.computing ?? createComputing(),
    segments: createSegmentStore({ objects, cacheBytes: limits.cacheBytes }),
    jobCache,
    forgetIfRestarted: createRestartCheck(jobCache),
    maps: createUrlMaps(store, jobCache),
    linksFor,
    previousFilesFor: rememberPreviousFiles(store, jobCache),
    previousPiecesFor: rememberPreviousPieces({ ...given, linksFor }, jobCache),
    stored: createStoredUrlsOfJobs(jobCache),
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
