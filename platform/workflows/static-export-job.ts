import {
  ApplicationFailure,
  CancellationScope,
  ContinueAsNew,
  continueAsNew,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { escapeMarkdown } from '../../contract/details-markdown.ts';
import { BASELINE } from '../../contract/names.ts';
import type { PackedExport } from '../../exporter/assemble/pack-export.ts';
import type { PlatformActivities } from '../activities/create-platform-activities.ts';
import { exportFailureText, isFailureOf } from './failures.ts';
import { type JobVisibility, jobDetails, markJob } from './static-export-job/export-visibility.ts';
import { crawlersFor, crawlRoundMs, rewritersFor } from './static-export-job/share-work.ts';

type StaticExportJobInput = { jobId: string };

type StaticExportJobResult = { status: 'completed' | 'over'; contentSha256: string | null; pageCount: number };

/** Bridges outages of an origin, the database or the object store: 30 attempts are about half an hour. */
const RETRY = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' } as const;

const stages = proxyActivities<PlatformActivities>({
  // Most take longer for larger sites; those that share the work take new work for a minute, and continue while a large
  // file arrives. The heartbeat shows that they are alive.
  startToCloseTimeout: '24h',
  heartbeatTimeout: '5s',
  // Their writes must not come after the clean-up.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { ...RETRY, maximumAttempts: 30 },
});

const endings = proxyActivities<PlatformActivities>({
  // A job's end must be recorded, however long it takes.
  startToCloseTimeout: '10m',
  // Until then the domain accepts no other export, so it must not wait ten minutes for a worker that was killed.
  heartbeatTimeout: '5s',
  retry: RETRY,
});

/** Hours of crawling, and far below Temporal's warning limit for histories. */
const LONG_HISTORY_EVENTS = 4_000;
/** More rounds are only needed if workers keep dying while they report. */
const MAX_FREEZES = 5;

/**
 * One static export: opens the job, crawls, freezes the paths, makes the pieces of the archive and packs them. The API
 * reads the row in the database. Each stage stores its result there, so a run that was continued as new goes through
 * the stages again and only does what is missing.
 */
export async function staticExportJob({ jobId }: StaticExportJobInput): Promise<StaticExportJobResult> {
  patched(BASELINE);
  let archiveKey: string | null = null;
  try {
    const packed = await runStages(jobId).catch((error: unknown) => restartWithoutReuse(jobId, error));
    if (packed === undefined) return { status: 'over', contentSha256: null, pageCount: 0 };
    archiveKey = packed.archiveKey;
    if (packed.state === 'cancelled') throw ApplicationFailure.nonRetryable('cancelled', 'ExportFailed');
    await forget(jobId, archiveKey);
    return { status: 'completed', contentSha256: packed.contentSha256, pageCount: packed.pageCount };
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    const text = exportFailureText(error);
    setCurrentDetails(`Failed: ${escapeMarkdown(text)}`);
    await CancellationScope.nonCancellable(async () => {
      await endings.failExport({ jobId, error: text });
      await forget(jobId, archiveKey);
    });
    if (isCancellation(error)) throw error;
    throw ApplicationFailure.nonRetryable(text, 'ExportFailed');
  }
}

/** Undefined if the job ended before its workflow began. */
async function runStages(jobId: string) {
  const opened = await begin(jobId);
  if (opened.state === 'over') return undefined;
  const visibility: JobVisibility = { domain: opened.domain, version: opened.version, stage: 'crawling' };
  if (opened.searchAttributes) markJob(visibility);

  const { packed, rest, plan } = opened;
  if (packed !== null) return reportPacked(visibility, packed);
  await crawl(jobId, visibility, plan, rest);
  if (opened.visitsSamples) await visitSamples(jobId, visibility, plan);

  const frozen = await freeze(jobId, visibility, plan);

  showDetails(visibility, { ...frozen, stage: 'rewriting' });
  const rewriters = rewritersFor(frozen.batchCount, plan.parallelActivities);
  await untilDone(1, (round) => {
    const summary = `rewrite ${frozen.batchCount} batches, round ${round}`;
    return together(rewriters, () => stages.rewriteFiles.executeWithOptions({ summary }, [{ jobId }]));
  });

  showDetails(visibility, { stage: 'packing the archive' });
  return reportPacked(
    visibility,
    await stages.packExport.executeWithOptions({ summary: 'one archive of all pieces' }, [{ jobId }]),
  );
}

/** If an object that the export reuses is missing when it is needed, the export restarts without reuse. */
async function restartWithoutReuse(jobId: string, error: unknown): ReturnType<typeof runStages> {
  if (!isFailureOf('ExportInputGone', error)) throw error;
  const summary = 'restart without the previous export';
  const { isAnew } = await stages.beginAnew.executeWithOptions({ summary }, [{ jobId }]);
  if (!isAnew) throw error;
  return runStages(jobId);
}

/** The job's first stage, which completes a small site. */
async function begin(jobId: string) {
  return stages.beginExport.executeWithOptions({ summary: 'robots.txt, sitemaps, and all of a small site' }, [
    { jobId },
  ]);
}

function reportPacked(visibility: JobVisibility, packed: PackedExport): PackedExport {
  const { state, fileCount, sizeBytes, brokenLinks } = packed;
  const reused = packed.reusedFiles > 0 ? ` (${packed.reusedFiles} as in the last export)` : '';
  showDetails(visibility, {
    stage: `${state}: ${fileCount} files${reused}, ${sizeBytes} bytes, ${brokenLinks} broken links`,
  });
  return packed;
}

/** The first round has one worker, each later one as many as the queued links need. */
async function crawl(
  jobId: string,
  visibility: JobVisibility,
  plan: { soloCrawlMs: number; activityMs: number; parallelActivities: number },
  begun: { done: boolean; queuedCount: number } | null = null,
): Promise<void> {
  if (begun?.done === true) return;
  showDetails(visibility, {});
  let crawlers = begun === null ? 1 : crawlersFor(begun.queuedCount, plan.parallelActivities);
  await untilDone(begun === null ? 1 : 2, async (round) => {
    if (workflowInfo().historyLength > LONG_HISTORY_EVENTS) await continueAsNew<typeof staticExportJob>({ jobId });
    const maxMs = crawlRoundMs(round, plan);
    const summary = `crawl, round ${round}, ${crawlers} at once`;
    const rest = await together(crawlers, () => stages.crawlSite.executeWithOptions({ summary }, [{ jobId, maxMs }]));
    crawlers = crawlersFor(Math.max(...rest.map((each) => each.queuedCount)), plan.parallelActivities);
    return rest;
  });
}

/** What a browser finds in the crawled pages is crawled as well. */
async function visitSamples(
  jobId: string,
  visibility: JobVisibility,
  plan: Parameters<typeof crawl>[2],
): Promise<void> {
  showDetails(visibility, { stage: 'visiting sample pages' });
  const summary = 'a browser looks for what scripts load';
  const { foundCount } = await stages.visitSamples.executeWithOptions({ summary }, [{ jobId }]);
  showDetails(visibility, { stage: 'crawling' });
  if (foundCount > 0) await crawl(jobId, visibility, plan);
}

/** A worker that Temporal considered dead may have reported URLs after the crawl's end: crawl those too. */
async function freeze(jobId: string, visibility: JobVisibility, plan: Parameters<typeof crawl>[2]) {
  for (let attempt = 1; ; attempt += 1) {
    showDetails(visibility, { stage: 'freezing the paths' });
    try {
      const summary = 'assign a path to every URL';
      return await stages.freezeExport.executeWithOptions({ summary }, [{ jobId }]);
    } catch (error) {
      if (attempt === MAX_FREEZES || !isFailureOf('CrawlUnfinished', error)) throw error;
    }
    showDetails(visibility, { stage: 'crawling' });
    await crawl(jobId, visibility, plan);
  }
}

async function untilDone(
  firstRound: number,
  runRound: (round: number) => Promise<Array<{ done: boolean }>>,
): Promise<void> {
  for (let round = firstRound; ; round += 1) {
    const rest = await runRound(round);
    if (rest.some((each) => each.done)) return;
  }
}

/** Runs several activities of one kind; if one fails for good, the others are canceled. */
function together<Result>(count: number, run: () => Promise<Result>): Promise<Result[]> {
  return CancellationScope.cancellable(async () => {
    try {
      return await Promise.all(Array.from({ length: count }, run));
    } catch (error) {
      CancellationScope.current().cancel();
      throw error;
    }
  });
}

function showDetails(visibility: JobVisibility, change: Partial<JobVisibility>): void {
  Object.assign(visibility, change);
  setCurrentDetails(jobDetails(visibility));
}

function forget(jobId: string, archiveKey: string | null): Promise<void> {
  return endings.cleanUpExport.executeWithOptions({ summary: 'delete what the job worked on' }, [
    { jobId, archiveKey },
  ]);
}
