import { Parser } from 'htmlparser2';
import { decodeBody, UnreadableBody } from '../fetch/content-encoding.ts';

export type Sitemap = {
  /** The pages listed, as written. */
  pages: string[];
  /** The sitemaps that an index lists, as written. */
  sitemaps: string[];
};

/** The protocol's own limit for one file, uncompressed (sitemaps.org). */
export const MAX_SITEMAP_BYTES = 50 * 1024 * 1024;

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function readXml(text: string): Sitemap {
  const found: Sitemap = { pages: [], sitemaps: [] };
  const open: string[] = [];
  let location = '';
  const parser = new Parser(
    {
      onopentagname: (name) => {
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
    if (error instanceof UnreadableBody) return none;
    throw error;
  }
}
