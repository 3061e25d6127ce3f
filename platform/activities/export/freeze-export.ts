import { ApplicationFailure } from '@temporalio/common';
import { notFoundUrl } from '../../../exporter/crawl/not-found-page.ts';
import { EXPORT_IMPOSSIBLE } from '../../../exporter/export-impossible.ts';
import { rewriteProgress } from '../../../exporter/progress.ts';
import { freezeCrawl, lockCrawl } from '../../store/crawl-batches.ts';
import { getCrawl } from '../../store/crawls.ts';
import { frontierRest } from '../../store/frontier.ts';
import type { FrozenUrl, SettledRow } from '../../store/frontier-map.ts';
import { settledRows, writeFrozen } from '../../store/frontier-map.ts';
import { checkBudget } from './budget.ts';
import type { ExportDeps } from './export-deps.ts';
import { exportStage, writeProgress } from './export-stage.ts';
import { judgeCrawl } from './freeze/judge-crawl.ts';
import { planBundle } from './freeze/plan-bundle.ts';
import { readCrawl } from './read-crawl.ts';
import { openBase } from './reuse/open-base.ts';

/**
 * The failure type of a crawl that has addresses left: a worker that was taken for dead told of them after the others
 * had come to the end.
 */
export const CRAWL_UNFINISHED = 'CrawlUnfinished';

export type FrozenExport = { batchCount: number; pageCount: number; urlCount: number };

/**
 * Ends the crawl and decides where every address leads, in one transaction: either the whole map is there or none of
 * it. Fails for good where what was crawled is no export, and where addresses are still to be crawled.
 */
export async function freezeExport(deps: ExportDeps, jobId: string): Promise<FrozenExport> {
  const { db, limits } = deps;
  return exportStage(deps, { jobId, details: () => 'deciding where every address leads' }, async () => {
    const crawl = await readCrawl(db, jobId);
    const { settings, urlCount } = crawl;
    await openBase(deps, crawl);
    await db.transaction(async (tx) => {
      if ((await lockCrawl(tx, jobId))?.phase !== 'crawling') return;
      const spent = await getCrawl(tx, jobId);
      if (spent !== undefined) checkBudget(spent, limits);
      const { queuedCount, leased } = await frontierRest(tx, jobId);
      if (queuedCount > 0 || leased) {
        throw ApplicationFailure.nonRetryable('The crawl has addresses left to ask for', CRAWL_UNFINISHED);
      }
      const rows: SettledRow[] = [];
      const shared = shareTexts();
      for await (const piece of settledRows(tx, jobId)) for (const row of piece) rows.push(shared(row));
      const impossible = judgeCrawl(rows, settings);
      if (impossible !== undefined) throw ApplicationFailure.nonRetryable(impossible, EXPORT_IMPOSSIBLE);
      const plan = await planBundle(rows, { ...limits, site: settings.site, notFoundUrl: notFoundUrl(settings.site) });
      for (const piece of inPieces(plan.frozen)) await writeFrozen(tx, piece);
      await freezeCrawl(tx, jobId, plan);
    });
    const { batchCount, pageCount } = await readCrawl(db, jobId);
    await writeProgress(db, jobId, { progress: rewriteProgress({ settled: 0, total: 1 }), pageCount });
    return { batchCount, pageCount, urlCount };
  });
}

/** Gives rows that say the same of themselves the same text: each comes from the database with one of its own. */
function shareTexts(): (row: SettledRow) => SettledRow {
  const texts = new Map<string, string>();
  const share = (text: string | null): string | null => {
    if (text === null) return null;
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  return (row) => {
    row.contentType = share(row.contentType);
    row.reason = share(row.reason);
    return row;
  };
}

/** Decisions written at a time: one statement's worth of them is held, however large the site is. */
const WRITTEN_ROWS = 2_000;

function* inPieces(frozen: Iterable<FrozenUrl>): Generator<FrozenUrl[]> {
  let piece: FrozenUrl[] = [];
  for (const row of frozen) {
    piece.push(row);
    if (piece.length < WRITTEN_ROWS) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}
