import type { Site } from '../document/types.ts';
import { isOfSite, normalizeUrl } from '../document/url-identity.ts';
import type { Fetcher } from '../ports.ts';
import { MAX_HINT_TRIES } from './read-rules.ts';
import { type Asked, retryUntilAnswered } from './retry-until-answered.ts';
import { readRobots } from './robots.ts';
import { MAX_SITEMAP_BYTES, readSitemap } from './sitemap.ts';

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
/** Behind a long way each one after another would take as long as a hundred pages; each may be large. */
const SITEMAPS_AT_ONCE = 4;

/**
 * Asks a site's origin for its sitemaps, some at a time: those its robots.txt names, and /sitemap.xml. They are read in
 * their order. One that isn't there or fails is a hint less. Throws the signal's reason only.
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

  const asking = new Map<string, Promise<Asked>>();
  const ask = (url: string): Promise<Asked> => {
    // Of another site's sitemap nothing would be of use.
    const options = {
      url,
      leavesSite: false,
      maxAttempts,
      maxTries: MAX_HINT_TRIES,
      maxBufferedBytes: MAX_SITEMAP_BYTES,
      signal,
    };
    const answer = asking.get(url) ?? retryUntilAnswered(fetcher, site, options);
    asking.set(url, answer);
    // Whoever reads it hears of it.
    answer.catch(() => undefined);
    return answer;
  };
  let readCount = 0;
  for (const url of queue) {
    if (found.pages.length >= options.maxPages) break;
    for (const next of [...queue].slice(readCount, readCount + SITEMAPS_AT_ONCE)) ask(next);
    const asked = await ask(url);
    asking.delete(url);
    readCount += 1;
    if (asked.kind !== 'answer') continue;
    const { pages, sitemaps } = await readSitemap(asked.answer.body);
    if (pages.length + sitemaps.length > 0) found.sitemaps.push(url);
    enqueueAll(sitemaps, url);
    for (const page of pages) {
      const normal = normalizeUrl(page, site, url);
      if (normal !== undefined && isOfSite(normal, site)) found.pages.push({ url: normal, foundOn: url });
    }
  }
  await Promise.allSettled(asking.values());
  return found;
}
