import { Parser } from 'htmlparser2';
import { UnreadableDocument } from '../document/unreadable.ts';
import { decodeBody, UnreadableBody } from '../fetch/content-coding.ts';
import type { Fetcher } from '../ports.ts';
import type { Site } from '../urls/identity.ts';
import { isOfSite, normalizeUrl } from '../urls/identity.ts';
import { ROBOTS_AGENT, readRobots } from '../urls/robots.ts';
import { type Asked, retryUntilResponse } from './retry-until-response.ts';
import { MAX_HINT_TRIES } from './site-rules.ts';

export type Discovery = {
  /** The sitemaps found, as normalized URLs. */
  sitemaps: string[];
  /** The site's pages in the sitemaps, as normalized URLs. */
  pages: Array<{ url: string; foundOn: string }>;
};

/** Sitemap indexes are rarely nested deeper in practice; the limit also stops an index that lists itself. */
const MAX_SITEMAPS = 500;
/** One at a time, a distant origin's sitemaps would take too long; more at once could take too much memory. */
const SITEMAPS_AT_ONCE = 4;

/**
 * Requests a site's sitemaps, a few at a time: those in its robots.txt, and /sitemap.xml. Reads them in order. Sitemaps
 * are hints, so a missing or failing one is skipped. Throws only the signal's reason.
 */
export async function discover(
  { fetcher, readSitemap }: SitemapReader & { fetcher: Fetcher },
  site: Site,
  options: {
    signal: AbortSignal;
    robotsTxt: string;
    maxPages: number;
    /** The maximum number of attempts after soft failures. */
    maxAttempts: number;
  },
): Promise<Discovery> {
  const { maxAttempts, signal } = options;
  const home = `https://${site.domain}/`;
  const found: Discovery = { sitemaps: [], pages: [] };

  // Iterating over a set includes items that are added meanwhile.
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
    // Another site's sitemap would be of no use.
    const options = {
      url,
      leavesSite: false,
      maxAttempts,
      maxTries: MAX_HINT_TRIES,
      maxBufferedBytes: MAX_SITEMAP_BYTES,
      signal,
    };
    const request = asking.get(url) ?? retryUntilResponse(fetcher, site, options);
    asking.set(url, request);
    // The failure is handled when the sitemap is read.
    request.catch(() => undefined);
    return request;
  };
  let readCount = 0;
  for (const url of queue) {
    if (found.pages.length >= options.maxPages) break;
    for (const next of [...queue].slice(readCount, readCount + SITEMAPS_AT_ONCE)) ask(next);
    const asked = await ask(url);
    asking.delete(url);
    readCount += 1;
    if (asked.kind !== 'response') continue;
    const { pages, sitemaps } = await readSitemap(asked.response.body);
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

/** Calls `readSitemap` where it may end its process. */
export type SitemapReader = { readSitemap(body: Buffer): Promise<Sitemap> };

type Sitemap = {
  /** The pages listed, as written. */
  pages: string[];
  /** The sitemaps that an index lists, as written. */
  sitemaps: string[];
};

/** The protocol's own limit for one file, uncompressed (sitemaps.org). */
const MAX_SITEMAP_BYTES = 50 * 1024 * 1024;

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** A sitemap has three. The parser's time grows with the square of its levels. */
const MAX_LEVELS = 100;

function readXml(text: string): Sitemap {
  const found: Sitemap = { pages: [], sitemaps: [] };
  const open: string[] = [];
  let location = '';
  const parser = new Parser(
    {
      onopentagname: (name) => {
        if (open.length === MAX_LEVELS) throw new UnreadableDocument('the sitemap nests too deep');
        open.push(name);
        location = '';
      },
      ontext: (piece) => {
        if (open.at(-1) === 'loc') location += piece;
      },
      onclosetag: (name) => {
        open.pop();
        if (name !== 'loc' || location.trim() === '') return;
        const parent = open.at(-1);
        if (parent === 'url') found.pages.push(location.trim());
        else if (parent === 'sitemap') found.sitemaps.push(location.trim());
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(text);
  return found;
}

/**
 * Parses a sitemap, a sitemap index, or a plain list of URLs, gzipped or not. An unreadable one counts as empty,
 * because sitemaps are only hints.
 */
export async function readSitemap(body: Buffer): Promise<Sitemap> {
  const none: Sitemap = { pages: [], sitemaps: [] };
  try {
    const bytes = isGzip(body) ? await decodeBody(body, ['gzip'], MAX_SITEMAP_BYTES) : body;
    const text = bytes
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .trimStart();
    if (text.startsWith('<')) return readXml(text);
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    return { ...none, pages: lines.filter((line) => /^https?:\/\//.test(line)) };
  } catch (error) {
    if (error instanceof UnreadableBody || error instanceof UnreadableDocument) return none;
    throw error;
  }
}
