import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

type Titled = { path: string; language: string; titles: readonly string[] };

/** A title that more pages have doesn't name one. */
const MAX_PAGES = 3;
const PAGES_PER_FILE = 64;
/** What sites add to the titles of all their pages, such as ` | Handbook` and ` (Release 17)`. */
const ADDED = /\s(?:[|·•–—-]|\().*$/u;

/**
 * Writes which pages have a title, so that a search for a title finds its page first, whatever other pages say. Each title
 * is in the file that its hash names. Returns the number of files.
 */
export async function writeTitleFiles(folder: string, pages: readonly Titled[]): Promise<number> {
  const bucketCount = Math.max(1, Math.ceil(pages.length / PAGES_PER_FILE));
  const buckets = Array.from({ length: bucketCount }, () => new Map<string, Array<[path: string, title: string]>>());
  for (const { path, language, titles } of pages) {
    const [title = ''] = titles;
    for (const key of keysOf(titles).map((text) => `${language} ${text}`)) {
      const bucket = buckets[bucketOf(key, bucketCount)];
      const known = bucket?.get(key);
      if (known === undefined) bucket?.set(key, [[path, title]]);
      else known.push([path, title]);
    }
  }
  await mkdir(folder, { recursive: true });
  for (const [number, bucket] of buckets.entries()) {
    const named = [...bucket].filter(([, found]) => found.length <= MAX_PAGES).sort(([a], [b]) => (a < b ? -1 : 1));
    await writeFile(join(folder, `${number}.json`), JSON.stringify(Object.fromEntries(named)));
  }
  return bucketCount;
}

function keysOf(titles: readonly string[]): string[] {
  const all = titles.flatMap((title) => [title, title.replace(ADDED, '')]);
  return [...new Set(all.map(titleKey).filter((key) => key !== ''))];
}

/** As the search page has it (assets/search.js). */
export function titleKey(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{P}\p{S}]+/gu, ' ')
    .trim();
}

/** FNV-1a of its UTF-8. */
export function bucketOf(key: string, bucketCount: number): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % bucketCount;
}
