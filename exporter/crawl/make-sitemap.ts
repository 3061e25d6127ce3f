import { SITEMAP_MADE } from '../crawl-records.ts';
import type { FetchedResponse } from '../ports.ts';
import { type CrawlWithSettings, readCrawl } from '../settings.ts';
import { depsOfAttempt, withLeases } from '../stage.ts';
import { rankOf } from '../urls/resource-rank.ts';
import { ROBOTS_AGENT, readRobots } from '../urls/robots.ts';
import { readResponse } from './read-response.ts';
import { enqueueUrls } from './report-urls.ts';
import { placeFiles } from './store-visits.ts';
import type { VisitingStageDeps } from './visit.ts';

/** The protocol's limit for one file (sitemaps.org). */
const MAX_PAGES = 50_000;

/**
 * Adds a sitemap of all pages to a finished crawl, as if the origin had served it: if the origin has none, the whole site is
 * exported, and one file can list it. Does nothing while URLs are queued or leased.
 */
export async function makeSitemap(given: VisitingStageDeps, jobId: string): Promise<void> {
  return given.runStage({ jobId, details: () => 'making a sitemap' }, async (run) => {
    const deps = depsOfAttempt(given, run);
    const { store, segments, limits } = deps;
    const crawl = await readCrawl(store, jobId);
    const { settings } = crawl;
    const url = `https://${settings.site.domain}/sitemap.xml`;
    if (!mayLack(crawl) || (await store.storedResponse(jobId, url)) !== undefined) return;
    const { queuedCount, leased: isLeased } = await store.frontierRest(jobId);
    const pages = await store.crawledPages(jobId, MAX_PAGES + 1);
    if (queuedCount > 0 || isLeased || pages.length === 0 || pages.length > MAX_PAGES) return;
    const lease = { jobId, token: run.token, leaseMs: limits.leaseMs };
    await withLeases(deps, lease, async () => {
      const found = { url, rank: rankOf('probe'), depth: 0, foundOn: null, skip: null, take: true };
      const [leased] = await enqueueUrls(store, lease, [found]);
      if (leased === undefined) return;
      await store.addNotices({ jobId, url, texts: [SITEMAP_MADE] });
      const visited = await readResponse({ ...deps, importsOf: async () => [] }, settings, leased, sitemapOf(pages));
      const settled = await placeFiles(segments, jobId, [visited], { keepsLinks: true });
      await store.settleUrls({ ...lease, settled, found: [] });
    });
  });
}

function mayLack({ phase, settings }: CrawlWithSettings): boolean {
  const isNamed = readRobots(settings.robotsTxt, ROBOTS_AGENT).sitemaps.length > 0;
  return phase === 'crawling' && settings.pages === null && !isNamed;
}

/** Without dates, so that it is the same for the same pages. */
function sitemapOf(pages: readonly string[]): FetchedResponse {
  const urls = pages
    .toSorted()
    .map((url) => `<url><loc>${url.replaceAll('&', '&amp;').replaceAll("'", '&apos;')}</loc></url>\n`);
  const body = Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`,
  );
  return { kind: 'response', status: 200, contentType: 'application/xml', body };
}
