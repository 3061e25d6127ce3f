import { gunzipSync } from 'node:zlib';
import { decode, type Token, Tokenizer, Type } from 'cborg';
import { z } from 'zod';
import { UnreadableDocument } from '../unreadable.ts';
import type { Mention } from './adapter.ts';

/**
 * Pagefind, the search of Starlight and other sites. A script builds the URL of `pagefind.js`, which loads
 * `pagefind-entry.json`. The entry lists one `.pf_meta` file per language (gzip, CBOR), and that lists the index
 * chunks and one fragment per page.
 */

/** A folder ending in `pagefind/` in a script's settings, optionally after the base that Starlight prepends. */
const FOLDER =
  /(?:["'`]([\w./@%~-]*)["'`]\.replace\([^)]{0,100}\)\s{0,20}\+\s{0,20})?["'`]([\w./@%~-]*\bpagefind\/)["'`]/g;
const INTERFACE = /\/pagefind-(?:modular-|component-)?ui\.js$/;
const PROGRAM = /\/pagefind\.js$/;
const ENTRY = /\/pagefind-entry\.json$/;
const META = /\.pf_meta$/;
const MAGIC = 'pagefind_dcd';
const MAX_META_BYTES = 256 * 1024 * 1024;
/** An index has three. The decoder recurses, and a full stack may end the process. */
const MAX_LEVELS = 100;

const entry = z.object({
  languages: z.record(z.string(), z.object({ hash: z.string(), wasm: z.string().nullish() })),
});
/** Version; pages as hash and word count; index chunks as first word, last word, hash; filters as name and hash. */
const meta = z.tuple(
  [
    z.unknown(),
    z.array(z.tuple([z.string()], z.unknown())),
    z.array(z.tuple([z.unknown(), z.unknown(), z.string()], z.unknown())),
    z.array(z.tuple([z.unknown(), z.string()], z.unknown())),
  ],
  z.unknown(),
);

/** Whether a Pagefind file refers to others. `path` is the URL's path without the query. */
export function isPagefind(path: string): boolean {
  return ENTRY.test(path) || META.test(path);
}

/** The Pagefind files that a script loads, relative to it. */
export function pagefindInScript(url: string, script: string): Mention[] {
  if (PROGRAM.test(url) && script.includes('pf_meta')) {
    return probes(['pagefind-entry.json', 'wasm.unknown.pagefind', 'pagefind-worker.js']);
  }
  const beside = INTERFACE.test(url) ? ['pagefind.js'] : [];
  const folders = script.includes('pagefind/') ? [...script.matchAll(FOLDER)] : [];
  const named = folders.map(([, base = '', folder = '']) => `${base.replace(/\/$/, '')}${folder}pagefind.js`);
  return probes([...beside, ...named]);
}

/**
 * The files that a Pagefind file refers to, relative to it; empty if it can't be read. Throws `UnreadableDocument` if it
 * nests too deep.
 */
export function pagefindFiles(path: string, bytes: Uint8Array): Mention[] {
  try {
    return probes(ENTRY.test(path) ? filesOfEntry(bytes) : filesOfMeta(bytes));
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    return [];
  }
}

function filesOfEntry(bytes: Uint8Array): string[] {
  const { languages } = entry.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  return Object.values(languages).flatMap(({ hash, wasm }) => [
    `pagefind.${hash}.pf_meta`,
    `wasm.${wasm ?? 'unknown'}.pagefind`,
  ]);
}

function filesOfMeta(bytes: Uint8Array): string[] {
  const plain = gunzipSync(bytes, { maxOutputLength: MAX_META_BYTES });
  const start = plain.subarray(0, MAGIC.length).toString('latin1') === MAGIC ? MAGIC.length : 0;
  const [, pages, pieces, filters] = meta.parse(decodeCbor(plain.subarray(start)));
  return [
    ...pages.map(([hash]) => `fragment/${hash}.pf_fragment`),
    ...pieces.map(([, , hash]) => `index/${hash}.pf_index`),
    ...filters.map(([, hash]) => `filter/${hash}.pf_filter`),
  ];
}

function decodeCbor(bytes: Uint8Array): unknown {
  return decode(bytes, { tokenizer: new BoundedTokenizer(bytes) });
}

class BoundedTokenizer extends Tokenizer {
  /** How many values each open array, map and tag still awaits. */
  readonly #awaited: number[] = [];

  override next(): Token {
    const token = super.next();
    const awaited = this.#awaited;
    if (Type.equals(token.type, Type.break)) awaited.pop();
    else {
      awaited.push((awaited.pop() ?? 1) - 1);
      const count = valuesOf(token);
      if (count > 0) awaited.push(count);
    }
    while (awaited.at(-1) === 0) awaited.pop();
    if (awaited.length > MAX_LEVELS) throw new UnreadableDocument('the index nests too deep');
    return token;
  }
}

/** How many values follow in an array, a map or a tag; `Infinity` up to a break. */
function valuesOf({ type, value }: Token): number {
  if (Type.equals(type, Type.tag)) return 1;
  if (Type.equals(type, Type.map)) return Number(value) * 2;
  return Type.equals(type, Type.array) ? Number(value) : 0;
}

function probes(paths: readonly string[]): Mention[] {
  return paths.map((url) => ({ url, kind: 'probe' }));
}
