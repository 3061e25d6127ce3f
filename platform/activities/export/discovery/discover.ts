import type { Fetcher } from '../fetch/fetcher.ts';
import type { Site } from '../page/types.ts';
import { isOfSite, normalizeUrl, originUrl } from '../page/url-identity.ts';
import { MAX_ROBOTS_CHARACTERS, readRobots } from './robots.ts';
import { readSitemap } from './sitemap.ts';

/** The product token that robots.txt groups name us by. */
export const ROBOTS_AGENT = 'galley';

export type Discovery = {
  robotsTxt: string;
  /** Addresses of the sitemaps that were there, normalised. */
  sitemaps: string[];
  /** Pages of the site that the sitemaps list, normalised. */
  pages: Array<{ url: string; foundOn: string }>;
};

/** An index of indexes is as deep as it gets in practice; the bound also ends an index that lists itself. */
const MAX_SITEMAPS = 500;
const MAX_TRIES = 3;

/**
 * Asks a site's origin for robots.txt and the sitemaps (those robots.txt names, and /sitemap.xml), which already keep to
 * its Crawl-delay. An origin that doesn't have them, or fails to answer, has no rules and no hints: the export is its
 * owner's own order.
 */
export async function discover(
  fetcher: Fetcher,
  site: Site,
  options: { signal: AbortSignal; maxPages: number; sitemaps: boolean; robots: 'respect' | 'ignore' },
): Promise<Discovery> {
  const home = `https://${site.domain}/`;
  const robotsUrl = `${home}robots.txt`;

  async function read(url: string): Promise<{ body: Buffer; url: string } | undefined> {
    let current = url;
    for (let tries = 1, redirects = 0; tries <= MAX_TRIES; ) {
      const result = await fetcher.get(new URL(isOfSite(current, site) ? originUrl(current, site) : current), {
        signal: options.signal,
      });
      if (result.kind === 'response') return { body: result.body, url: current };
      if (result.kind === 'redirect' && redirects < MAX_TRIES) {
        const target = normalizeUrl(result.location.href, site);
        if (target === undefined || target === current) return undefined;
        // Rules hold wherever they are kept (RFC 9309); hints from elsewhere would be of another site.
        if (!isOfSite(target, site) && url !== robotsUrl) return undefined;
        current = target;
        redirects += 1;
      } else if (result.kind === 'failed' && result.soft) {
        tries += 1;
      } else {
        return undefined;
      }
    }
    return undefined;
  }

  const robotsTxt = (await read(robotsUrl))?.body.toString('utf8').slice(0, MAX_ROBOTS_CHARACTERS) ?? '';
  const found: Discovery = { robotsTxt, sitemaps: [], pages: [] };
  const { crawlDelayMs, sitemaps: named } = readRobots(robotsTxt, ROBOTS_AGENT);
  fetcher.space(site.origin, options.robots === 'respect' ? crawlDelayMs : 0);
  if (!options.sitemaps) return found;

  // A set's walk takes in what is added on the way.
  const queue = new Set<string>();
  const enqueue = (url: string, base: string): void => {
    const normal = normalizeUrl(url, site, base);
    if (normal !== undefined && isOfSite(normal, site)) queue.add(normal);
  };
  const enqueueAll = (urls: readonly string[], base: string): void => {
    for (const url of urls) {
      if (queue.size >= MAX_SITEMAPS) return;
      enqueue(url, base);
    }
  };
  enqueueAll(named, home);
  enqueue(`${home}sitemap.xml`, home);
  for (const url of queue) {
    if (found.pages.length >= options.maxPages) break;
    const answer = await read(url);
    if (answer === undefined) continue;
    const { pages, sitemaps } = await readSitemap(answer.body);
    if (pages.length + sitemaps.length > 0) found.sitemaps.push(url);
    enqueueAll(sitemaps, url);
    for (const page of pages) {
      const normal = normalizeUrl(page, site, url);
      if (normal !== undefined && isOfSite(normal, site)) found.pages.push({ url: normal, foundOn: url });
    }
  }
  return found;
}
