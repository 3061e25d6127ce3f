import { ApplicationFailure } from '@temporalio/common';
import { freezeCrawl, lockCrawl } from '../../store/crawl-batches.ts';
import { updateExportJobProgress } from '../../store/export-job-transitions.ts';
import { frontierRest } from '../../store/frontier.ts';
import type { SettledRow } from '../../store/frontier-map.ts';
import { settledRows, writeFrozen } from '../../store/frontier-map.ts';
import { lively } from '../lively.ts';
import { notFoundUrl } from './crawl/not-found-page.ts';
import type { ExportDeps } from './export-deps.ts';
import { judgeCrawl } from './freeze/judge-crawl.ts';
import { planBundle } from './freeze/plan-bundle.ts';
import { rewriteProgress } from './progress.ts';
import { readCrawl } from './read-crawl.ts';
import { openBase } from './reuse/open-base.ts';

/** The failure type of a crawl that is no export; the message is for the job's owner. */
export const EXPORT_IMPOSSIBLE = 'ExportImpossible';

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
  const { db, limits, logger } = deps;
  return lively({ details: () => 'deciding where every address leads', logger }, async () => {
    const crawl = await readCrawl(db, jobId);
    const { settings, urlCount } = crawl;
    await openBase(deps, crawl);
    await db.transaction(async (tx) => {
      if ((await lockCrawl(tx, jobId)) !== 'crawling') return;
      const { queuedCount, leased } = await frontierRest(tx, jobId);
      if (queuedCount > 0 || leased) {
        throw ApplicationFailure.nonRetryable('The crawl has addresses left to ask for', CRAWL_UNFINISHED);
      }
      const rows: SettledRow[] = [];
      for await (const piece of settledRows(tx, jobId)) for (const row of piece) rows.push(row);
      const impossible = judgeCrawl(rows, settings);
      if (impossible !== undefined) throw ApplicationFailure.nonRetryable(impossible, EXPORT_IMPOSSIBLE);
      const plan = planBundle(rows, { ...limits, site: settings.site, notFoundUrl: notFoundUrl(settings.site) });
      await writeFrozen(tx, jobId, plan.frozen);
      await freezeCrawl(tx, jobId, plan);
    });
    const { batchCount, pageCount } = await readCrawl(db, jobId);
    await updateExportJobProgress(db, jobId, { progress: rewriteProgress({ settled: 0, total: 1 }), pageCount });
    return { batchCount, pageCount, urlCount };
  });
}
