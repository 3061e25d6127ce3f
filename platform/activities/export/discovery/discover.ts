import type { Fetcher } from '../fetch/fetcher.ts';
import type { Site } from '../page/types.ts';
import { isOfSite, normalizeUrl } from '../page/url-identity.ts';
import { askPatiently } from './ask-patiently.ts';
import { MAX_HINT_TRIES } from './read-rules.ts';
import { readRobots } from './robots.ts';
import { readSitemap } from './sitemap.ts';

/** The product token that robots.txt groups name us by. */
export const ROBOTS_AGENT = 'galley';

export type Discovery = {
  /** Addresses of the sitemaps that were there, normalised. */
  sitemaps: string[];
  /** Pages of the site that the sitemaps list, normalised. */
  pages: Array<{ url: string; foundOn: string }>;
};

/** An index of indexes is as deep as it gets in practice; the bound also ends an index that lists itself. */
const MAX_SITEMAPS = 500;

/**
 * Asks a site's origin for its sitemaps: those its robots.txt names, and /sitemap.xml. One that isn't there or fails is a
 * hint less. Throws the signal's reason only.
 */
export async function discover(
  fetcher: Fetcher,
  site: Site,
  options: {
    signal: AbortSignal;
    robotsTxt: string;
    maxPages: number;
    /** Tries of what fails softly. */
    maxAttempts: number;
  },
): Promise<Discovery> {
  const { maxAttempts, signal } = options;
  const home = `https://${site.domain}/`;
  const found: Discovery = { sitemaps: [], pages: [] };

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
  enqueueAll(readRobots(options.robotsTxt, ROBOTS_AGENT).sitemaps, home);
  enqueue(`${home}sitemap.xml`, home);
  for (const url of queue) {
    if (found.pages.length >= options.maxPages) break;
    // Of another site's sitemap nothing would be of use.
    const asked = await askPatiently(fetcher, site, {
      ...{ url, leavesSite: false, maxAttempts, maxTries: MAX_HINT_TRIES, signal },
    });
    if (asked.kind !== 'answer') continue;
    const { pages, sitemaps } = await readSitemap(asked.answer.body);
    if (pages.length + sitemaps.length > 0) found.sitemaps.push(url);
    enqueueAll(sitemaps, url);
    for (const page of pages) {
      const normal = normalizeUrl(page, site, url);
      if (normal !== undefined && isOfSite(normal, site)) found.pages.push({ url: normal, foundOn: url });
    }
  }
  return found;
}
