import type { Mention } from './adapter.ts';

const TABLE = String.raw`\{[^{}]*\}\[\w+\]`;
/** `"folder/" + (names[id] || id) + "." + hashes[id] + ".js"`, as a minified webpack runtime writes it. */
const CHUNK_NAME = new RegExp(
  String.raw`"([^"]*)"\+(?:\(?(${TABLE})\|\|\w+\)?\+|(\w+)\+)?(?:"([^"]*)"\+)?(${TABLE})\+"(\.(?:js|css))"`,
  'g',
);
const ENTRY = /(?:"([^"]+)"|([\w$]+)):"([^"]*)"/g;
const MAX_CHUNKS = 20_000;

/**
 * The chunks a webpack runtime can load, by evaluating the tables of names and hashes in it. Guesses: the tables list
 * chunks that may be styles only, so each counts only if the origin has it.
 */
export function webpackChunks(url: string, script: string): Mention[] {
  const mentions: Mention[] = [];
  const matches = [...script.matchAll(CHUNK_NAME)];
  const base = publicPath(
    url,
    matches.map(([, folder = '']) => folder),
  );
  for (const [, folder = '', names, , separator = '', hashes = '', extension = ''] of matches) {
    const nameOf = table(names ?? '');
    for (const [id, hash] of table(hashes)) {
      if (mentions.length >= MAX_CHUNKS) return mentions;
      const name = separator === '' && names === undefined ? '' : (nameOf.get(id) ?? id);
      mentions.push({ url: `${base}${folder}${name}${separator}${hash}${extension}`, kind: 'probe' });
    }
  }
  return mentions;
}

function table(text: string): Map<string, string> {
  const entries = [...text.matchAll(ENTRY)].map(
    ([, quoted, plain, value = '']) => [quoted ?? plain ?? '', value] as const,
  );
  return new Map(entries);
}

/** Chunk names are relative to the public path: what the runtime's own address has before one of those folders. */
function publicPath(url: string, folders: readonly string[]): string {
  const own = folders.find((folder) => folder !== '' && url.includes(`/${folder}`));
  return url.slice(0, own === undefined ? url.lastIndexOf('/') + 1 : url.lastIndexOf(`/${own}`) + 1);
}
