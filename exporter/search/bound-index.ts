import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decode, encode } from 'cborg';
import { z } from 'zod';

/**
 * Bounds what a search transfers. Pagefind puts all places of a word into one file, and all text and headings of a page
 * into another: for a large manual, single words and pages take some hundred kilobytes.
 */

const MAGIC = Buffer.from('pagefind_dcd');
/** Characters of a page's text that excerpts can show. */
const MAX_TEXT = 8_000;
/** The places kept of a word on all pages; on each page at least one, the first ones. */
const MAX_PLACES = 8_000;
/** Uncompressed; about half of it is transferred. */
const MAX_CHUNK_BYTES = 24 * 1024;
/** A word on more than this share of the pages says nothing about any, so a query with other words doesn't ask for it. */
const COMMON_SHARE = 0.5;
const MIN_PAGES = 100;

/** A word, its places on pages (the page as the distance from the one before), and more. */
type Word = [text: string, places: Array<[page: number, on: number[], ...unknown[]]>, ...unknown[]];
/** Only its outer form is checked: a large index has millions of numbers. */
const chunk = z.tuple([z.custom<Word[]>((words) => Array.isArray(words) && words.every(isWord))]);
const meta = z.tuple(
  [z.unknown(), z.array(z.unknown()), z.array(z.tuple([z.string(), z.string(), z.string()], z.unknown()))],
  z.unknown(),
);
const entry = z.object({
  languages: z.record(z.string(), z.object({ hash: z.string(), page_count: z.number(), wasm: z.string().nullish() })),
});
const fragment = z.looseObject({ content: z.string() });

/** `language`: the one of pages, in lower case; `unknown` if none of the site says it. */
export type IndexedLanguage = { language: string; pageCount: number; commonWords: string[] };

/** Bounds the files of a Pagefind index in this folder. Equal files give equal files. */
export async function boundIndex(folder: string): Promise<IndexedLanguage[]> {
  for (const name of await namesIn(join(folder, 'fragment'))) await boundFragment(join(folder, 'fragment', name));
  const { languages } = await readEntry(folder);
  await removeUnused(
    folder,
    Object.values(languages).map(({ wasm }) => wasm ?? 'unknown'),
  );
  const bounded: IndexedLanguage[] = [];
  for (const [language, { hash, page_count: pageCount }] of Object.entries(languages).sort()) {
    bounded.push({ language, pageCount, commonWords: await boundLanguage(folder, hash, pageCount) });
  }
  return bounded;
}

async function readEntry(folder: string): Promise<z.infer<typeof entry>> {
  return entry.parse(JSON.parse(await readFile(join(folder, 'pagefind-entry.json'), 'utf8')));
}

/** Removes Pagefind's own pages and the programs of other languages. */
async function removeUnused(folder: string, wasm: readonly string[]): Promise<void> {
  const used = new Set(['pagefind.js', 'pagefind-entry.json', ...wasm.map((name) => `wasm.${name}.pagefind`)]);
  for (const { name, parentPath } of await readdir(folder, { withFileTypes: true })) {
    if (/\.(?:js|css|pagefind)$/.test(name) && !used.has(name)) await rm(join(parentPath, name));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

async function boundFragment(file: string): Promise<void> {
  const page = fragment.parse(JSON.parse(unpack(await readFile(file)).toString('utf8')));
  const content = cutAfterWord(page.content);
  await writeFile(file, pack(Buffer.from(JSON.stringify({ ...page, content, anchors: [] }))));
}

function cutAfterWord(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(0, text.lastIndexOf(' ', MAX_TEXT));
}

/** Divides the index of a language anew. Returns its common words. */
async function boundLanguage(folder: string, hash: string, pageCount: number): Promise<string[]> {
  const metaFile = join(folder, `pagefind.${hash}.pf_meta`);
  const [version, pages, chunks, ...rest] = meta.parse(decode(unpack(await readFile(metaFile))));
  const common: string[] = [];
  const divided: typeof chunks = [];
  for (const [, , name] of chunks) {
    const file = join(folder, 'index', `${name}.pf_index`);
    const [words] = chunk.parse(decode(unpack(await readFile(file))));
    await rm(file);
    const bounded = words.map(([text, places, ...more]): Word => [text, boundPlaces(places), ...more]);
    for (const [text, places] of words) if (isCommon(places.length, pageCount)) common.push(text);
    for (const { words: part, bytes } of divide(bounded)) {
      const partName = `${name.split('_')[0]}_${createHash('sha256').update(bytes).digest('hex').slice(0, 10)}`;
      await writeFile(join(folder, 'index', `${partName}.pf_index`), pack(bytes));
      divided.push([part[0] ?? '', part.at(-1) ?? '', partName]);
    }
  }
  await writeFile(metaFile, pack(Buffer.from(encode([version, pages, divided, ...rest]))));
  return common.sort();
}

function isWord(value: unknown): boolean {
  return Array.isArray(value) && typeof value[0] === 'string' && Array.isArray(value[1]);
}

function isCommon(onPages: number, pageCount: number): boolean {
  return pageCount >= MIN_PAGES && onPages > pageCount * COMMON_SHARE;
}

/** Places are numbers from the one before, after the negative weight of those that follow. */
function boundPlaces(places: Word[1]): Word[1] {
  const total = places.reduce((sum, [, on]) => sum + on.length, 0);
  if (total <= MAX_PLACES) return places;
  const most = Math.max(1, Math.floor(MAX_PLACES / places.length));
  return places.map(([page, on, ...more]) => [page, firstPlaces(on, most), ...more]);
}

function firstPlaces(places: readonly number[], most: number): number[] {
  const kept: number[] = [];
  let count = 0;
  for (const each of places) {
    if (count === most) break;
    kept.push(each);
    if (each >= 0) count += 1;
  }
  return kept;
}

/** Parts of about the same size, each at least one word, as files of an index. */
function* divide(words: readonly Word[]): Generator<{ words: string[]; bytes: Buffer }> {
  let part: Array<{ text: string; bytes: Uint8Array }> = [];
  let sizeBytes = 0;
  const ended = () => ({
    words: part.map(({ text }) => text),
    bytes: Buffer.concat([ARRAY_OF_ONE, arrayHead(part.length), ...part.map(({ bytes }) => bytes)]),
  });
  for (const each of words) {
    const bytes = encode(each);
    if (part.length > 0 && sizeBytes + bytes.length > MAX_CHUNK_BYTES) {
      yield ended();
      part = [];
      sizeBytes = 0;
    }
    part.push({ text: each[0], bytes });
    sizeBytes += bytes.length;
  }
  if (part.length > 0) yield ended();
}

/** CBOR (RFC 8949, 3): the elements of an array follow its head. */
const ARRAY_OF_ONE = Uint8Array.of(0x81);
function arrayHead(length: number): Uint8Array {
  return Uint8Array.of(0x99, length >> 8, length & 0xff);
}

function unpack(bytes: Buffer): Buffer {
  const unpacked = gunzipSync(bytes);
  if (!unpacked.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('Pagefind wrote a file of an unknown format');
  return unpacked.subarray(MAGIC.length);
}

function pack(bytes: Buffer): Buffer {
  const packed = gzipSync(Buffer.concat([MAGIC, bytes]), { level: 9 });
  // The operating system's byte: all systems write the same.
  packed[9] = 255;
  return packed;
}
