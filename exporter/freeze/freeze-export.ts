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
 * Ends the crawl and decides where every URL leads, in one transaction: the map is stored completely or not at all.
 * Throws `ExportImpossible` if the crawl isn't good enough to export, and `CrawlUnfinished` if URLs are still queued or
 * leased.
 */
export async function freezeExport(deps: ExportDeps, jobId: string): Promise<FrozenExport> {
  const { store, limits } = deps;
  return deps.runStage({ jobId, details: () => 'deciding where every URL leads' }, async (run) => {
    const crawl = await readCrawl(store, jobId);
    const { settings, urlCount } = crawl;
    await openPreviousCrawl(deps, crawl);
    await store.freeze(jobId, async ({ queuedCount, leased, ...finished }) => {
      checkBudget(finished, limits);
      if (queuedCount > 0 || leased) {
        throw new ExportFailure('CrawlUnfinished', 'The crawl has URLs left to fetch');
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

/** Lets rows with equal texts share one string, because the database client creates a new one for each row. */
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
