import type { FrozenExport } from '../../../exporter/assemble/freeze-export.ts';
import type { PackedExport } from '../../../exporter/assemble/pack-export.ts';
import type { RewriteRest } from '../../../exporter/assemble/rewrite-files.ts';
import type { CrawlRest } from '../../../exporter/crawl/crawl-frontier.ts';
import { type OpenedExport, openedAs } from '../../../exporter/crawl/open-export.ts';
import type { ExportDeps } from '../../../exporter/export-deps.ts';
import { ExportFailure } from '../../../exporter/export-failure.ts';
import { workPrefix } from '../../../exporter/object-keys.ts';
import { readExportSettings } from '../../../exporter/settings.ts';
import { countReused } from '../../store/crawl-report.ts';
import type { Database } from '../../store/database.ts';

/** How far it got: what the first round of crawling left to do, and the archive if nothing is left. */
type BegunExport = OpenedExport & { rest: CrawlRest | null; packed: PackedExport | null };

type Job = { jobId: string };

/** The stages of an export. Each continues where it was interrupted. */
type Stages = {
  openExport(job: Job): Promise<OpenedExport>;
  crawlSite(job: Job & { maxMs: number }): Promise<CrawlRest>;
  freezeExport(job: Job): Promise<FrozenExport>;
  rewriteFiles(job: Job): Promise<RewriteRest>;
  packExport(job: Job): Promise<PackedExport>;
};

/** The most batches that one worker rewrites alone (`rewritersFor`). */
const MAX_BATCHES = 6;
/** If this share of a site is unchanged since the previous export, one worker makes the rest of its bundle alone. */
const SHARE_REUSED = 0.9;

/**
 * Exports a small or hardly changed site: discover, crawl for a short round (and a second one if little is left), freeze,
 * rewrite, pack. Scheduling each stage by itself would take a good part of the time. A larger site is left after its first
 * round; the caller runs the other stages, shared among workers. `isFirst`: no earlier attempt was made.
 */
export async function beginExport(
  deps: Pick<ExportDeps, 'store' | 'limits'> & { db: Database },
  stages: Stages,
  { jobId, isFirst, signal }: { jobId: string; isFirst: boolean; signal: AbortSignal },
): Promise<BegunExport> {
  const crawl = isFirst ? undefined : await deps.store.getCrawl(jobId);
  // The job may even have completed: its last stage returns the same result again.
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

/** Whether the rest takes less than half as long again, so that sharing it would take longer. */
async function isNearlyDone(
  { store }: Pick<ExportDeps, 'store'>,
  jobId: string,
  { done, queuedCount }: CrawlRest,
): Promise<boolean> {
  if (done) return false;
  const settledCount = (await store.getCrawl(jobId))?.settledCount ?? 0;
  return queuedCount <= settledCount / 2;
}

/** Freezes the crawl. Returns whether the site is small or hardly changed. */
async function freezeSmall({ db }: { db: Database }, stages: Stages, jobId: string): Promise<boolean> {
  try {
    const { batchCount, urlCount } = await stages.freezeExport({ jobId });
    if (batchCount <= MAX_BATCHES) return true;
    return (await countReused(db, jobId, workPrefix(jobId))) >= SHARE_REUSED * urlCount;
  } catch (error) {
    if (error instanceof ExportFailure && error.type === 'CrawlUnfinished') return false;
    throw error;
  }
}
