import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { BundleSigner } from '../../contract/signing.ts';
import { freezeExport } from '../../exporter/assemble/freeze-export.ts';
import { packExport } from '../../exporter/assemble/pack-export.ts';
import { rewriteFiles } from '../../exporter/assemble/rewrite-files.ts';
import { crawlSite } from '../../exporter/crawl/crawl-site.ts';
import { makeSitemap } from '../../exporter/crawl/make-sitemap.ts';
import { type ExportRequest, openExport } from '../../exporter/crawl/open-export.ts';
import { visitSamples } from '../../exporter/crawl/visit-samples.ts';
import { createExportDeps } from '../../exporter/export-deps.ts';
import { ExportFailure } from '../../exporter/export-failure.ts';
import type { Clock } from '../../exporter/fetch/clock.ts';
import type { ExportLimits } from '../../exporter/limits.ts';
import type { Prover, Renderer } from '../../exporter/ports.ts';
import type { Computing } from '../../exporter/processes/computing.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { createCrawlStore } from '../store/crawl-store.ts';
import type { Database } from '../store/database.ts';
import { markExportJobRunning } from '../store/export-job-transitions.ts';
import { requestedPaths } from '../store/export-jobs.ts';
import { getProject } from '../store/projects.ts';
import { resetCrawl } from '../store/reset-crawl.ts';
import { beginExport } from './export/begin-export.ts';
import { cleanUpExport, failExport } from './export/end-export.ts';
import { exportSettings } from './export/export-settings.ts';
import { createStageRunner } from './export/export-stage.ts';
import { createJobMutex } from './export/job-mutex.ts';
import { previousAttemptTokens, withHeartbeat } from './with-heartbeat.ts';

export type ExportActivityDeps = {
  db: Database;
  objects: ObjectStore;
  logger: Logger;
  /** Bounds that differ from the defaults. */
  limits?: Partial<ExportLimits>;
  /** What requests and rounds of crawling are timed by; tests bring their own. */
  clock?: Clock;
  /** Whether the server knows our search attributes. */
  searchAttributes?: boolean;
  /** Renders pages for projects that want it; without it their exports fail with a clear error. The caller closes it. */
  browser?: Renderer;
  /** Compares bundles with their origins; without it the proof of projects that want one is `unknown`. */
  prover?: Prover | undefined;
  /** Signs bundles; without it they are unsigned. */
  signer?: BundleSigner | undefined;
  /** How documents are read; by default small ones in this process. */
  computing?: Computing | undefined;
};

type Job = { jobId: string };

/** The activities of an export: heartbeats and leases around the stages of the exporter. */
export function createExportActivities(deps: ExportActivityDeps) {
  const { db, logger } = deps;
  const store = createCrawlStore(db);
  const { limits: givenLimits, clock, browser, prover, signer, computing } = deps;
  const exporter = createExportDeps({
    store,
    objects: deps.objects,
    logger,
    limits: givenLimits,
    clock,
    renderer: browser,
    prover,
    signer,
    computing,
    runStage: createStageRunner(deps),
  });
  const { limits } = exporter;
  const ending = { ...deps, store, jobCache: exporter.jobCache };
  const [crawling, rewriting] = [createJobMutex({ logger }), createJobMutex({ logger })];
  const stages = {
    openExport: ({ jobId }: Job) => openExport(exporter, jobId, () => readExportRequest(db, jobId)),
    crawlSite: ({ jobId, maxMs }: Job & { maxMs: number }) =>
      crawling.run(jobId, { maxMs, idle: { done: false, queuedCount: 0 } }, (leftMs) =>
        crawlSite(exporter, { jobId, maxMs: leftMs }),
      ),
    freezeExport: async ({ jobId }: Job) => {
      await makeSitemap(exporter, jobId);
      return freezeExport(exporter, jobId);
    },
    rewriteFiles: ({ jobId }: Job) =>
      rewriting.run(jobId, { maxMs: limits.activityMs, idle: { done: false, settled: 0, total: 0 } }, (maxMs) =>
        rewriteFiles(exporter, { jobId, maxMs }),
      ),
    packExport: ({ jobId }: Job) => packExport(exporter, jobId),
  };
  const searchAttributes = deps.searchAttributes === true;

  /** An attempt of an activity begins by releasing what the attempts before it still hold. */
  function asActivity<Result, Input extends Job>(work: (input: Input) => Promise<Result>) {
    return (input: Input): Promise<Result> =>
      withFailures(async () => {
        const tokens = previousAttemptTokens();
        if (tokens.length > 0) await store.releaseLeases(input.jobId, tokens);
        return await work(input);
      });
  }

  return {
    /** Begins a job and plans how its crawl is shared among workers. */
    openExport: asActivity(async (job: Job) => ({ ...(await stages.openExport(job)), searchAttributes })),
    crawlSite: asActivity(stages.crawlSite),
    freezeExport: asActivity(stages.freezeExport),
    rewriteFiles: asActivity(stages.rewriteFiles),
    packExport: asActivity(stages.packExport),
    /** Begins a job, and exports all of it if its site is small. */
    beginExport: asActivity(async ({ jobId }: Job) => {
      const { info, cancellationSignal: signal } = Context.current();
      const begun = await beginExport({ ...exporter, db }, stages, { jobId, isFirst: info.attempt === 1, signal });
      return { ...begun, searchAttributes };
    }),
    beginAnew: ({ jobId }: Job) => restartExport(deps, jobId),
    visitSamples: asActivity(({ jobId }: Job) => visitSamples(exporter, jobId)),
    failExport: ({ jobId, error }: Job & { error: string }) => failExport(ending, jobId, error),
    cleanUpExport: ({ jobId, archiveKey }: Job & { archiveKey: string | null }) =>
      cleanUpExport(ending, jobId, archiveKey),
  };
}

/** Runs work whose failures Temporal retries or not as the exporter says. */
async function withFailures<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ExportFailure)) throw error;
    const { message, type, nonRetryable } = error;
    throw ApplicationFailure.create({ message, type, nonRetryable });
  }
}

/** Marks a job as running and reads what it is to export; undefined if the job or its project is gone or has ended. */
async function readExportRequest(db: Database, jobId: string): Promise<ExportRequest | undefined> {
  const job = await markExportJobRunning(db, jobId);
  if (job?.status !== 'running') return undefined;
  const project = await getProject(db, job.projectId);
  if (project === undefined) return undefined;
  const settings = exportSettings({ ...job, paths: requestedPaths(job) }, project);
  return { projectId: project.id, settings, incremental: project.settings.incremental };
}

/** `isAnew`: the export restarts from its first stage. The name is part of recorded histories. */
type RestartedExport = { isAnew: boolean };

/**
 * Restarts an export without reusing the previous one, because an object is missing that the previous export may
 * have stored. An export that reused nothing isn't changed. What it has stored is deleted when it ends.
 */
async function restartExport(
  { db, logger }: { db: Database; logger: Logger },
  jobId: string,
): Promise<RestartedExport> {
  return withHeartbeat({ details: () => 'restarting', logger }, async () => {
    const isReset = await resetCrawl(db, jobId);
    if (isReset) logger.warn({ jobId }, 'An object of the previous export is missing; the whole site is fetched again');
    return { isAnew: isReset };
  });
}
