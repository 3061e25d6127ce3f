import type { CrawlRest } from './crawl/crawl-frontier.ts';
import { type OpenedExport, openedAs } from './discover/open-export.ts';
import type { ExportDeps } from './export-deps.ts';
import { ExportFailure } from './export-failure.ts';
import type { FrozenExport } from './freeze/freeze-export.ts';
import { workPrefix } from './object-keys.ts';
import type { PackedExport } from './pack/pack-export.ts';
import type { RewriteRest } from './rewrite/rewrite-files.ts';
import { readExportSettings } from './settings.ts';

/** How far a beginning got: what its first round of crawling left, and the archive where nothing was left to do. */
export type BegunExport = OpenedExport & { rest: CrawlRest | null; packed: PackedExport | null };

type Job = { jobId: string };

/** The stages of an export, each of which goes on from where it was left. */
export type Stages = {
  openExport(job: Job): Promise<OpenedExport>;
  crawlSite(job: Job & { maxMs: number }): Promise<CrawlRest>;
  freezeExport(job: Job): Promise<FrozenExport>;
  rewriteFiles(job: Job): Promise<RewriteRest>;
  packExport(job: Job): Promise<PackedExport>;
};

/** As many batches as one worker makes alone (`rewritersFor`). */
const MAX_BATCHES = 6;
/** Where this share of a site is as in the last export, one worker makes what is left of its bundle alone. */
const SHARE_TAKEN_OVER = 0.9;

/**
 * Opens a job and crawls for a first, short round, and for a second one where little is left; what is crawled by then is
 * small, or mostly as in the last export, and is frozen, rewritten and packed at once: to have each stage scheduled would
 * take a good part of the time. Whatever goes wrong on the way, the stages by themselves do the rest.
 */
export async function beginExport(
  deps: Pick<ExportDeps, 'store' | 'limits'>,
  stages: Stages,
  { jobId, isFirst, signal }: { jobId: string; isFirst: boolean; signal: AbortSignal },
): Promise<BegunExport> {
  const crawl = isFirst ? undefined : await deps.store.getCrawl(jobId);
  // The job may even have completed: its last stage tells of it once more.
  if (crawl?.phase === 'frozen') {
    return { ...openedAs(deps.limits, readExportSettings(crawl.settingsJson)), rest: null, packed: null };
  }
  const opened = await stages.openExport({ jobId });
  if (opened.state === 'over' || !isFirst) return { ...opened, rest: null, packed: null };
  signal.throwIfAborted();
  const maxMs = opened.plan.soloCrawlMs;
  let rest = await stages.crawlSite({ jobId, maxMs });
  signal.throwIfAborted();
  if (await isNearlyDone(deps, jobId, rest)) rest = await stages.crawlSite({ jobId, maxMs });
  signal.throwIfAborted();
  const isSmall = rest.done && !opened.visitsSamples && (await freezeSmall(deps, stages, jobId));
  signal.throwIfAborted();
  const isRewritten = isSmall && (await stages.rewriteFiles({ jobId })).done;
  signal.throwIfAborted();
  return { ...opened, rest, packed: isRewritten ? await stages.packExport({ jobId }) : null };
}

/** What is left takes less than half as long again at the pace so far: to share it would take longer. */
async function isNearlyDone(
  { store }: Pick<ExportDeps, 'store'>,
  jobId: string,
  { done, queuedCount }: CrawlRest,
): Promise<boolean> {
  if (done) return false;
  const settledCount = (await store.getCrawl(jobId))?.settledCount ?? 0;
  return queuedCount <= settledCount / 2;
}

/** Whether the crawl is frozen, and was of a small site or of one that has hardly changed. */
async function freezeSmall({ store }: Pick<ExportDeps, 'store'>, stages: Stages, jobId: string): Promise<boolean> {
  try {
    const { batchCount, urlCount } = await stages.freezeExport({ jobId });
    if (batchCount <= MAX_BATCHES) return true;
    return (await store.countTakenOver(jobId, workPrefix(jobId))) >= SHARE_TAKEN_OVER * urlCount;
  } catch (error) {
    if (error instanceof ExportFailure && error.type === 'CrawlUnfinished') return false;
    throw error;
  }
}
