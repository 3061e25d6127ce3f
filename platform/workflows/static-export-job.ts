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
import type { PackedExport } from '../../exporter/pack/pack-export.ts';
import type { PlatformActivities } from '../activities/create-platform-activities.ts';
import { type JobStory, jobDetails, markJob } from './static-export-job/export-story.ts';
import { failureText } from './static-export-job/failure-text.ts';
import { isFailureOf } from './static-export-job/is-failure-of.ts';
import { crawlersFor, crawlRoundMs, rewritersFor } from './static-export-job/share-work.ts';

export type StaticExportJobInput = { jobId: string };

export type StaticExportJobResult = { status: 'completed' | 'over'; contentSha256: string | null; pageCount: number };

/** An origin, the database or the object store may be away for a while: 30 tries are about half an hour. */
const RETRY = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' } as const;

const stages = proxyActivities<PlatformActivities>({
  // All of these grow with the site, and a file takes as long as its bytes keep coming; that they live is what the
  // heartbeat says.
  startToCloseTimeout: '24h',
  heartbeatTimeout: '5s',
  // What they write must not come after the cleaning up.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { ...RETRY, maximumAttempts: 30 },
});

const shared = proxyActivities<PlatformActivities>({
  // They take on work for a minute at a time, and go on while a large file comes.
  startToCloseTimeout: '24h',
  heartbeatTimeout: '5s',
  // What they write must not come after the cleaning up.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { ...RETRY, maximumAttempts: 30 },
});

const endings = proxyActivities<PlatformActivities>({
  // A job's end must be written some day, whatever it takes.
  startToCloseTimeout: '10m',
  retry: RETRY,
});

/** Hours of crawling; far below where Temporal warns. */
const LONG_HISTORY_EVENTS = 4_000;
/** More are found only if workers keep dying while their reports are on their way. */
const MAX_FREEZES = 5;

/**
 * One static export: opens the job, crawls, freezes the paths, makes the pieces of the archive and packs them. The row
 * in the database is what the API reads, and each stage finds there what the one before it left; so a run that was
 * continued as new goes through the stages again, and each does only what is missing.
 */
export async function staticExportJob({ jobId }: StaticExportJobInput): Promise<StaticExportJobResult> {
  let archiveKey: string | null = null;
  try {
    const packed = await runStages(jobId).catch((error: unknown) => runAnew(jobId, error));
    if (packed === undefined) return { status: 'over', contentSha256: null, pageCount: 0 };
    archiveKey = packed.archiveKey;
    if (packed.state === 'cancelled') throw ApplicationFailure.nonRetryable('cancelled', 'ExportFailed');
    await forget(jobId, archiveKey);
    return { status: 'completed', contentSha256: packed.contentSha256, pageCount: packed.pageCount };
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    const text = failureText(error);
    setCurrentDetails(`Failed: ${text}`);
    await CancellationScope.nonCancellable(async () => {
      await endings.failExport({ jobId, error: text });
      await forget(jobId, archiveKey);
    });
    if (isCancellation(error)) throw error;
    throw ApplicationFailure.nonRetryable(text, 'ExportFailed');
  }
}

/** Undefined where the job ended before its workflow began. */
async function runStages(jobId: string) {
  const opened = await begin(jobId);
  if (opened.state === 'over') return undefined;
  const story: JobStory = { domain: opened.domain, version: opened.version, stage: 'crawling' };
  if (opened.searchAttributes) markJob(story);

  const { packed, rest, plan } = opened;
  if (packed !== null) return told(story, packed);
  await crawl(jobId, story, plan, rest);
  // Jobs that an older release opened have no word on it, and go on without.
  if (opened.visitsSamples === true) await visitSamples(jobId, story, plan);

  const frozen = await freeze(jobId, story, plan);

  tell(story, { ...frozen, stage: 'rewriting' });
  const rewriters = rewritersFor(frozen.batchCount, plan.parallelActivities);
  await untilDone(1, (round) => {
    const summary = `rewrite ${frozen.batchCount} batches, round ${round}`;
    return together(rewriters, () => shared.rewriteFiles.executeWithOptions({ summary }, [{ jobId }]));
  });

  tell(story, { stage: 'packing the archive' });
  return told(story, await stages.packExport.executeWithOptions({ summary: 'one archive of all pieces' }, [{ jobId }]));
}

/** What an export took over may be gone by the time that it is needed: then it does without, from the start. */
async function runAnew(jobId: string, error: unknown): ReturnType<typeof runStages> {
  if (!isFailureOf('ExportInputGone', error) || !patched('anew-without-the-last')) throw error;
  const summary = 'once more, without the last export';
  const { isAnew } = await stages.beginAnew.executeWithOptions({ summary }, [{ jobId }]);
  if (!isAnew) throw error;
  return runStages(jobId);
}

/** The job's beginning, which may be all of it. */
async function begin(jobId: string) {
  if (patched('small-sites-at-once')) {
    return stages.beginExport.executeWithOptions({ summary: 'robots.txt, sitemaps, and all of a small site' }, [
      { jobId },
    ]);
  }
  const opened = await stages.openExport.executeWithOptions({ summary: 'robots.txt and sitemaps' }, [{ jobId }]);
  return { ...opened, rest: null, packed: null };
}

function told(story: JobStory, packed: PackedExport): PackedExport {
  const { state, fileCount, sizeBytes, brokenLinks } = packed;
  const reused = packed.reusedFiles > 0 ? ` (${packed.reusedFiles} as in the last export)` : '';
  tell(story, { stage: `${state}: ${fileCount} files${reused}, ${sizeBytes} bytes, ${brokenLinks} broken links` });
  return packed;
}

/** One worker at first, unless a first round is over already; then as many as there are links in line for. */
async function crawl(
  jobId: string,
  story: JobStory,
  plan: { soloCrawlMs: number; activityMs: number; parallelActivities: number },
  begun: { done: boolean; queuedCount: number } | null = null,
): Promise<void> {
  if (begun?.done === true) return;
  tell(story, {});
  let crawlers = begun === null ? 1 : crawlersFor(begun.queuedCount, plan.parallelActivities);
  await untilDone(begun === null ? 1 : 2, async (round) => {
    if (workflowInfo().historyLength > LONG_HISTORY_EVENTS) await continueAsNew<typeof staticExportJob>({ jobId });
    const maxMs = crawlRoundMs(round, plan);
    const summary = `crawl, round ${round}, ${crawlers} at once`;
    const rest = await together(crawlers, () => shared.crawlSite.executeWithOptions({ summary }, [{ jobId, maxMs }]));
    crawlers = crawlersFor(Math.max(...rest.map((each) => each.queuedCount)), plan.parallelActivities);
    return rest;
  });
}

/** What a browser finds in the finished crawl's pages is crawled like the rest. */
async function visitSamples(jobId: string, story: JobStory, plan: Parameters<typeof crawl>[2]): Promise<void> {
  tell(story, { stage: 'visiting sample pages' });
  const summary = 'a browser looks for what scripts load';
  const { foundCount } = await stages.visitSamples.executeWithOptions({ summary }, [{ jobId }]);
  tell(story, { stage: 'crawling' });
  if (foundCount > 0) await crawl(jobId, story, plan);
}

/** A worker that was taken for dead may have told of addresses after the crawl's end: those are crawled too. */
async function freeze(jobId: string, story: JobStory, plan: Parameters<typeof crawl>[2]) {
  for (let attempt = 1; ; attempt += 1) {
    tell(story, { stage: 'freezing the paths' });
    try {
      const summary = 'every address gets its path';
      return await stages.freezeExport.executeWithOptions({ summary }, [{ jobId }]);
    } catch (error) {
      if (attempt === MAX_FREEZES || !isFailureOf('CrawlUnfinished', error)) throw error;
    }
    tell(story, { stage: 'crawling' });
    await crawl(jobId, story, plan);
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

/** Runs several activities of one kind; where one fails for good, the others are cancelled. */
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

function tell(story: JobStory, change: Partial<JobStory>): void {
  Object.assign(story, change);
  setCurrentDetails(jobDetails(story));
}

function forget(jobId: string, archiveKey: string | null): Promise<void> {
  return endings.cleanUpExport.executeWithOptions({ summary: 'forget what the job worked on' }, [
    { jobId, archiveKey },
  ]);
}
