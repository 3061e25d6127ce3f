import type { SettledRow } from '../crawl-records.ts';
import { ExportFailure } from '../export-failure.ts';
import { checkBudget } from '../limits.ts';
import { openPreviousCrawl } from '../reuse/reuse-key.ts';
import { type ExportSettings, readCrawl } from '../settings.ts';
import { rewriteProgress, type StageDeps } from '../stage.ts';
import { notFoundUrl } from '../urls/assign-path.ts';
import type { Site } from '../urls/identity.ts';
import { isOfSite, shownUrl } from '../urls/identity.ts';
import { rankOf } from '../urls/resource-rank.ts';
import { followRedirect, planBundle, redirectTargets } from './plan-bundle.ts';

export type FrozenExport = { batchCount: number; pageCount: number; urlCount: number };

/**
 * Ends the crawl and decides where every URL leads, in one transaction: the map is stored completely or not at all.
 * Throws `ExportImpossible` if the crawl isn't good enough to export, and `CrawlUnfinished` if URLs are still queued or
 * leased.
 */
export async function freezeExport(deps: StageDeps, jobId: string): Promise<FrozenExport> {
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
      const plan = await planBundle(rows, { ...limits, site: settings.site, notFoundUrl: notFoundUrl(settings.site) });
      // The last batch is the search's.
      return settings.search === 'pagefind' ? { ...plan, batchCount: plan.batchCount + 1 } : plan;
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

/** Why a URL that was fetched is no page. */
function typeOf(url: string, rows: ReadonlyMap<string, SettledRow>): string {
  const row = rows.get(url);
  const end = row && followRedirect(row, rows);
  const contentType = end?.kind === 'row' ? end.row.contentType : null;
  return contentType === null || contentType === '' ? 'is no HTML page' : `is no HTML page, but ${contentType}`;
}

/** A few pages may be broken on the origin itself. With a larger share, we would publish the origin's outage. */
const MAX_FAILED_SHARE = 0.05;
const MIN_FAILED = 5;

/** Whether a URL failed because the origin couldn't respond, and not because the resource is missing. */
function isOriginFailure(row: SettledRow): boolean {
  if (row.outcome !== 'missing') return false;
  return row.status === null ? !row.reason?.startsWith('refused') : row.status >= 500 || row.status === 429;
}

/** Why a page that must exist can't be exported. */
function failureOfEntry(url: string, rows: ReadonlyMap<string, SettledRow>, site: Site): string | undefined {
  const row = rows.get(url);
  const requested = shownUrl(url, site);
  if (row === undefined) return `${requested} was not fetched`;
  const end = followRedirect(row, rows);
  if (end.kind === 'nowhere') return `${requested}: ${end.reason}`;
  if (end.kind === 'outside') return `${requested} redirects to ${end.url}, which is not part of the site`;
  if (end.row.outcome === 'file') return undefined;
  const ended = shownUrl(end.row.url, site);
  if (end.row.outcome === 'skipped') return `${ended} was left out: ${end.row.reason ?? 'not wanted'}`;
  return `${ended} can't be fetched: ${end.row.reason ?? 'no response'}`;
}

/**
 * Why a finished crawl can't be exported, as a message for the job's owner; undefined if it can. The export of a
 * failing origin must not replace a good deployment.
 */
export function judgeCrawl(rows: readonly SettledRow[], settings: ExportSettings): string | undefined {
  const startUrl = `https://${settings.site.domain}/`;
  const byUrl = redirectTargets(rows, settings.pages ?? [startUrl]);
  if (settings.pages === null) {
    const failure = failureOfEntry(startUrl, byUrl, settings.site);
    if (failure !== undefined) return `The start page ${failure}`;
  } else {
    const failures = settings.pages.flatMap((url) => failureOfEntry(url, byUrl, settings.site) ?? []);
    if (failures.length === settings.pages.length) return `None of the paths can be exported: ${failures[0]}`;
  }
  if (!rows.some((row) => row.isPage && row.url !== notFoundUrl(settings.site))) {
    const [url = startUrl] = settings.pages ?? [];
    return `The export has no page: ${shownUrl(url, settings.site)} ${typeOf(url, byUrl)}`;
  }
  const pages = rows.filter((row) => isOfSite(row.url, settings.site) && (row.isPage || row.rank === rankOf('page')));
  const failed = pages.filter(isOriginFailure);
  if (failed.length > MIN_FAILED && failed.length > pages.length * MAX_FAILED_SHARE) {
    const example = failed[0] && `${shownUrl(failed[0].url, settings.site)} (${failed[0].reason})`;
    return `The origin did not respond for ${failed.length} of ${pages.length} pages, for example ${example}`;
  }
  return undefined;
}
