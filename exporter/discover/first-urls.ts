import { createCrawlScope } from '../crawl/crawl-scope.ts';
import { notFoundUrl } from '../crawl/not-found-page.ts';
import { createModuleReader } from '../crawl/read-response.ts';
import { createStrongestUses, enqueueUrls, settleVisits } from '../crawl/report-urls.ts';
import { rankOf } from '../crawl/resource-rank.ts';
import { visit } from '../crawl/visit.ts';
import type { Visited } from '../crawl/visited.ts';
import type { FoundUrl } from '../crawl-records.ts';
import type { ResourceKind } from '../document/types.ts';
import { originUrl } from '../document/url-identity.ts';
import type { ExportDeps } from '../export-deps.ts';
import type { ExportSettings } from '../settings.ts';
import type { Discovery } from './discover.ts';
import type { KeepingFetcher } from './keep-responses.ts';

/** Enqueues a job's first URLs; URLs that are already queued don't change. Call each method once, in this order. */
export type FirstUrls = {
  /** Enqueues the start pages, the not-found page, and the URLs that are tried on every site. */
  begin(options: {
    /** Whether to visit start pages immediately, if they needn't be rendered. */
    visitStart: boolean;
    signal: AbortSignal;
  }): Promise<void>;
  /** Enqueues the URLs from sitemaps and those of the visits so far, and settles what discovery has already fetched. */
  end(hints: Discovery, signal: AbortSignal): Promise<void>;
};

/** Start pages that are visited before the crawl begins; the crawl visits the others. */
const MAX_VISITED = 4;

export function createFirstUrls(
  deps: ExportDeps,
  { settings, token, fetcher }: { settings: ExportSettings; token: string; fetcher: KeepingFetcher },
): FirstUrls {
  const { store, limits } = deps;
  const { jobId, site, pages, render } = settings;
  const lease = { jobId, token, leaseMs: limits.leaseMs };
  const home = `https://${site.domain}/`;
  const scope = createCrawlScope({ settings, limits, urlCount: 0, variants: new Map(), skips: new Map() });
  const started: Visited[] = [];

  function entry(url: string, kind: ResourceKind, foundOn: string | null = null, depth = 0): FoundUrl[] {
    const found = scope.admit({ url, kind }, { url: '', depth: depth - 1 });
    if (found === undefined) return [];
    return [{ ...found, foundOn, take: mayVisit(found) && fetcher.has(new URL(originUrl(url, site))) }];
  }

  /** Rendered pages aren't visited here, even if discovery has their response (/robots.txt may redirect to one). */
  function mayVisit({ skip, rank }: FoundUrl): boolean {
    return skip === null && (render === 'http' || rank === rankOf('probe'));
  }

  async function visitThoseTaken(found: readonly FoundUrl[], signal: AbortSignal): Promise<Visited[]> {
    const uses = createStrongestUses();
    for (const each of found) uses.add(each);
    const leased = await enqueueUrls(store, lease, uses.list());
    const reading = { ...deps, fetcher, importsOf: createModuleReader(fetcher, settings, signal) };
    return Promise.all(leased.map((each) => visit(reading, { settings, leased: each, signal })));
  }

  return {
    async begin({ visitStart, signal }) {
      const starts = (pages ?? [home]).flatMap((url) => entry(url, 'page'));
      if (visitStart) for (const each of starts.filter(mayVisit).slice(0, MAX_VISITED)) each.take = true;
      const found = [
        ...starts,
        // A bundle always has a not-found page, whatever robots.txt and the paths say.
        { url: notFoundUrl(site), rank: rankOf('page'), depth: 0, foundOn: null, skip: null, take: false },
        ...['favicon.ico', 'robots.txt'].flatMap((name) => entry(`${home}${name}`, 'probe')),
      ];
      started.push(...(await visitThoseTaken(found, signal)));
    },

    async end(hints, signal) {
      const found = [
        ...hints.sitemaps.flatMap((url) => entry(url, 'probe')),
        ...hints.pages.flatMap(({ url, foundOn }) => entry(url, 'page', foundOn, 1)),
      ];
      const visits = [...started, ...(await visitThoseTaken(found, signal))];
      if (visits.length > 0) await settleVisits(deps, { lease, scope, visits });
    },
  };
}
