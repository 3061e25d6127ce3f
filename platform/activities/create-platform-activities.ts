import type { Logger } from 'pino';
import { createAddressGuard } from '../../exporter/fetch/address-guard.ts';
import { type Clock, systemClock } from '../../exporter/fetch/clock.ts';
import { createFetcher } from '../../exporter/fetch/fetcher.ts';
import { createOriginLimiter } from '../../exporter/fetch/origin-limiter.ts';
import { createJobMemory } from '../../exporter/job-memory.ts';
import { DEFAULT_LIMITS, type ExportLimits } from '../../exporter/limits.ts';
import type { BrowserPool } from '../../exporter/render/browser-pool.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { releaseBatches } from '../store/crawl-batches.ts';
import type { Database } from '../store/database.ts';
import { releaseLeases } from '../store/frontier-leases.ts';
import type { AgentDeps } from './agent/agent-deps.ts';
import { createAgentActivities } from './agent/create-agent-activities.ts';
import { beginAnew, createMemoryCheck } from './export/begin-anew.ts';
import { beginExport } from './export/begin-export.ts';
import { createStoredUrlsOfJobs } from './export/crawl/stored-urls.ts';
import { crawlSite } from './export/crawl-site.ts';
import { cleanUpExport, failExport } from './export/end-export.ts';
import type { ExportDeps } from './export/export-deps.ts';
import { freezeExport } from './export/freeze-export.ts';
import { createOneAtATime } from './export/one-at-a-time.ts';
import { openExport } from './export/open-export.ts';
import { packExport } from './export/pack-export.ts';
import { rememberKnownFiles } from './export/reuse/known-files.ts';
import { rememberKnownPieces } from './export/reuse/known-pieces.ts';
import { rememberLinkTables } from './export/reuse/link-tables.ts';
import { createUrlMaps } from './export/rewrite/url-map.ts';
import { rewriteFiles } from './export/rewrite-files.ts';
import { createSegmentStore } from './export/segment-store.ts';
import { visitSamples } from './export/visit-samples.ts';

export type PlatformActivityDeps = {
  db: Database;
  objects: ObjectStore;
  logger: Logger;
  /** Bounds that differ from the defaults. */
  limits?: Partial<ExportLimits>;
  /** What requests and rounds of crawling are timed by; tests bring their own. */
  clock?: Clock;
  /** Whether the server knows our search attributes. */
  searchAttributes?: boolean;
  /** What agent jobs need; without it they fail with a clear error. */
  agents?: AgentDeps;
  /** Draws pages for projects that want it; without it their exports fail with a clear error. Whoever made it closes it. */
  browser?: BrowserPool;
};

const USER_AGENT = 'Mozilla/5.0 (compatible; Galley/0.1; static export)';

function exportDeps(deps: PlatformActivityDeps): ExportDeps {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const { clock = systemClock } = deps;
  const limiter = createOriginLimiter({ initial: limits.initialConcurrency, max: limits.maxConcurrency, clock });
  const memory = createJobMemory();
  const linksFor = rememberLinkTables(deps.objects, memory);
  const guardFor: ExportDeps['guardFor'] = ({ operatorHosts }) =>
    createAddressGuard({ operatorHosts: [...operatorHosts, ...limits.privateHosts] });
  return {
    db: deps.db,
    objects: deps.objects,
    logger: deps.logger,
    limits,
    clock,
    segments: createSegmentStore({ objects: deps.objects, cacheBytes: limits.cacheBytes }),
    memory,
    checkMemory: createMemoryCheck(memory),
    maps: createUrlMaps(deps.db, memory),
    linksFor,
    knownFilesFor: rememberKnownFiles(deps.db, memory),
    knownPiecesFor: rememberKnownPieces({ ...deps, linksFor }, memory),
    stored: createStoredUrlsOfJobs(memory),
    guardFor,
    browser: deps.browser,
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

const idleCrawl = (db: Database, { jobId, maxMs }: { jobId: string; maxMs: number }) => ({
  maxMs,
  idle: { done: false, queuedCount: 0 },
  giveBack: (deadTokens: readonly string[]) => releaseLeases(db, jobId, deadTokens),
});

const idleRewrite = (db: Database, jobId: string, { activityMs }: ExportLimits) => ({
  maxMs: activityMs,
  idle: { done: false, settled: 0, total: 0 },
  giveBack: (deadTokens: readonly string[]) => releaseBatches(db, jobId, deadTokens),
});

/** The activities of the platform's workflows, over the given database and object store. */
export function createPlatformActivities(deps: PlatformActivityDeps) {
  const shared = exportDeps(deps);
  const { logger } = deps;
  const [crawling, rewriting] = [createOneAtATime({ logger }), createOneAtATime({ logger })];
  const stages = {
    /** Begins a job and says how its crawl is to be shared among workers. */
    openExport: ({ jobId }: { jobId: string }) => openExport(shared, jobId),
    crawlSite: (input: { jobId: string; maxMs: number }) =>
      crawling.run(input.jobId, idleCrawl(deps.db, input), (maxMs) => crawlSite(shared, { ...input, maxMs })),
    freezeExport: ({ jobId }: { jobId: string }) => freezeExport(shared, jobId),
    rewriteFiles: ({ jobId }: { jobId: string }) =>
      rewriting.run(jobId, idleRewrite(deps.db, jobId, shared.limits), (maxMs) =>
        rewriteFiles(shared, { jobId, maxMs }),
      ),
    packExport: ({ jobId }: { jobId: string }) => packExport(shared, jobId),
  };
  const searchAttributes = deps.searchAttributes === true;
  return {
    ...stages,
    openExport: async (job: { jobId: string }) => ({ ...(await stages.openExport(job)), searchAttributes }),
    /** The same and as much more as a small site takes. */
    beginExport: async ({ jobId }: { jobId: string }) => ({
      ...(await beginExport(shared, stages, jobId)),
      searchAttributes,
    }),
    beginAnew: ({ jobId }: { jobId: string }) => beginAnew(shared, jobId),
    visitSamples: ({ jobId }: { jobId: string }) => visitSamples(shared, jobId),
    failExport: ({ jobId, error }: { jobId: string; error: string }) => failExport(shared, jobId, error),
    cleanUpExport: ({ jobId, archiveKey }: { jobId: string; archiveKey: string | null }) =>
      cleanUpExport(shared, jobId, archiveKey),
    ...createAgentActivities(deps),
  };
}

export type PlatformActivities = ReturnType<typeof createPlatformActivities>;
