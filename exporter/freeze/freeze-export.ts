import { checkBudget } from '../budget.ts';
import { notFoundUrl } from '../crawl/not-found-page.ts';
import type { SettledRow } from '../crawl-records.ts';
import type { ExportDeps } from '../export-deps.ts';
import { ExportFailure } from '../export-failure.ts';
import { rewriteProgress } from '../progress.ts';
import { readCrawl } from '../read-crawl.ts';
import { openPreviousCrawl } from '../reuse/previous-export.ts';
import { judgeCrawl } from './judge-crawl.ts';
import { planBundle } from './plan-bundle.ts';

export type FrozenExport = { batchCount: number; pageCount: number; urlCount: number };

/**
 * Ends the crawl and decides where every address leads, in one transaction: either the whole map is there or none of
 * it. Fails for good where what was crawled is no export, and where addresses are still to be crawled.
 */
export async function freezeExport(deps: ExportDeps, jobId: string): Promise<FrozenExport> {
  const { store, limits } = deps;
  return deps.runStage({ jobId, details: () => 'deciding where every address leads' }, async (run) => {
    const crawl = await readCrawl(store, jobId);
    const { settings, urlCount } = crawl;
    await openPreviousCrawl(deps, crawl);
    await store.freeze(jobId, async ({ queuedCount, leased, ...finished }) => {
      checkBudget(finished, limits);
      if (queuedCount > 0 || leased) {
        throw new ExportFailure('CrawlUnfinished', 'The crawl has addresses left to ask for');
      }
      const rows: SettledRow[] = [];
      const shared = shareTexts();
      for await (const piece of finished.rows) for (const row of piece) rows.push(shared(row));
      const impossible = judgeCrawl(rows, settings);
      if (impossible !== undefined) throw new ExportFailure('ExportImpossible', impossible);
      return planBundle(rows, { ...limits, site: settings.site, notFoundUrl: notFoundUrl(settings.site) });
    });
    const { batchCount, pageCount } = await readCrawl(store, jobId);
    await run.report({ progress: rewriteProgress({ settled: 0, total: 1 }), pageCount });
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
