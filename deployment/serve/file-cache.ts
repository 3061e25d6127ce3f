import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { BundleFile } from '../../contract/bundle.ts';
import type { ServedSite } from '../site.ts';

/** Larger files are read from the disk for each response and aren't compressed on the fly. */
export const MAX_CACHED_BYTES = 4 * 1024 ** 2;

/** The codings that files without a precompressed copy get, the better one first. */
export const ON_THE_FLY_CODINGS = ['br', 'gzip'] as const;
export type OnTheFlyCoding = (typeof ON_THE_FLY_CODINGS)[number];

/** `encoding` is undefined if compressing didn't make the file smaller: then `body` is the file itself. */
type CachedBody = { body: Buffer; encoding: OnTheFlyCoding | undefined };

export type FileCache = {
  get(file: BundleFile, encoding: OnTheFlyCoding | undefined): CachedBody | undefined;
  /**
   * Reads the file, and compresses it if `encoding` is given. Concurrent calls share one read. The caller holds the
   * site.
   */
  load(site: ServedSite, file: BundleFile, encoding: OnTheFlyCoding | undefined): Promise<CachedBody>;
  sizeBytes(): number;
};

/** Brotli's levels above cost much more time than they save bytes; 5 is about as fast as gzip's default. */
const BROTLI_QUALITY = 5;

const compressors: Record<OnTheFlyCoding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body) => promisify(gzip)(body),
};

/**
 * Contents of files in memory, by their SHA-256: a new version finds what it shares with the old one, and what only the
 * old one had is evicted in time.
 * @param maxBytes of all contents together
 */
export function createFileCache(maxBytes: number): FileCache {
  const bodies = new LRUCache<string, CachedBody>({
    maxSize: maxBytes,
    // An empty file counts too.
    sizeCalculation: ({ body }) => body.length + 1,
  });
  const loading = new Map<string, Promise<CachedBody>>();

  async function read(site: ServedSite, file: BundleFile, encoding: OnTheFlyCoding | undefined): Promise<CachedBody> {
    const plain = bodies.get(keyOf(file, undefined))?.body ?? (await readFile(join(site.root, file.path)));
    // A damaged disk must not become a long-lived entry under a valid hash.
    if (plain.length !== file.size) throw new Error(`${file.path} has another size on the disk`);
    if (encoding === undefined) return { body: plain, encoding };
    const packed = await compressors[encoding](plain);
    return packed.length < plain.length ? { body: packed, encoding } : { body: plain, encoding: undefined };
  }

  return {
    get: (file, encoding) => bodies.get(keyOf(file, encoding)),
    sizeBytes: () => bodies.calculatedSize,
    load(site, file, encoding) {
      const key = keyOf(file, encoding);
      const already = loading.get(key);
      if (already !== undefined) return already;
      const work = read(site, file, encoding)
        .then((found) => {
          bodies.set(key, found);
          return found;
        })
        .finally(() => loading.delete(key));
      loading.set(key, work);
      return work;
    },
  };
}

function keyOf({ sha256 }: BundleFile, encoding: OnTheFlyCoding | undefined): string {
  return encoding === undefined ? sha256 : sha256 + encoding;
}
