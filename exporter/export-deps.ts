import type { Logger } from 'pino';
import type { BundleSigner } from '../contract/signing.ts';
import { rememberPreviousPieces } from './assemble/previous-pieces.ts';
import { createUrlMaps } from './assemble/url-map.ts';
import { rememberStoredUrls } from './crawl/report-urls.ts';
import { createAddressGuard, type GuardFor } from './fetch/address-guard.ts';
import { type Clock, systemClock } from './fetch/clock.ts';
import { createFetcher, type FetcherFor } from './fetch/fetcher.ts';
import { createOriginLimiter } from './fetch/origin-limiter.ts';
import { createJobCache, createRestartCheck } from './job-cache.ts';
import { DEFAULT_LIMITS, type ExportLimits } from './limits.ts';
import type { CrawlStore, ExportObjects, Prover, Renderer } from './ports.ts';
import { type Computing, createComputing } from './processes/computing.ts';
import { rememberLinkTables } from './reuse/link-tables.ts';
import { rememberPreviousFiles } from './reuse/previous-responses.ts';
import type { IndexerOptions } from './search/start-indexer.ts';
import type { RunStage } from './stage.ts';
import { createSegmentStore } from './store/segment-store.ts';

export type ExportDeps = ReturnType<typeof createExportDeps>;

const USER_AGENT = 'Mozilla/5.0 (compatible; Galley/0.1; static export)';

/** What the stages of exports share in a process, over the given stores. */
export function createExportDeps(given: {
  store: CrawlStore;
  objects: ExportObjects;
  logger: Logger;
  runStage: RunStage;
  /** Bounds that differ from the defaults. */
  limits?: Partial<ExportLimits> | undefined;
  clock?: Clock | undefined;
  /** Renders or visits projects in a browser; undefined if this worker has none. */
  renderer?: Renderer | undefined;
  signer?: BundleSigner | undefined;
  /** Compares bundles of projects that want it with their origins. */
  prover?: Prover | undefined;
  computing?: Computing | undefined;
  /** Of the process that makes a search index. */
  indexer?: IndexerOptions | undefined;
}) {
  const { store, objects, clock = systemClock } = given;
  const limits = { ...DEFAULT_LIMITS, ...given.limits };
  const limiter = createOriginLimiter({ initial: limits.initialConcurrency, max: limits.maxConcurrency, clock });
  const jobCache = createJobCache();
  const linksFor = rememberLinkTables(objects, jobCache);
  const guardFor: GuardFor = ({ operatorHosts }) =>
    createAddressGuard({ operatorHosts: [...operatorHosts, ...limits.privateHosts] });
  const fetcherFor: FetcherFor = (site) =>
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
    });
  return {
    ...given,
    limits,
    clock,
    renderer: given.renderer,
    signer: given.signer,
    prover: given.prover,
    indexer: given.indexer,
    computing: given.computing ?? createComputing(),
    segments: createSegmentStore({ objects, cacheBytes: limits.cacheBytes }),
    /** Holds what the fields below cache of jobs. */
    jobCache,
    forgetIfRestarted: createRestartCheck(jobCache),
    maps: createUrlMaps(store, jobCache),
    linksFor,
    previousFilesFor: rememberPreviousFiles(store, jobCache),
    previousPiecesFor: rememberPreviousPieces({ ...given, linksFor }, jobCache),
    stored: rememberStoredUrls(jobCache),
    guardFor,
    fetcherFor,
  };
}
