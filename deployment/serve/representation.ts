import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import type { BundleFile } from '../../contract/bundle.ts';
import { cacheControl } from '../../contract/response-headers.ts';
import type { ForeignHeaders, ServedSite } from '../site.ts';
import { MAX_CACHED_BYTES, ON_THE_FLY_CODINGS, type OnTheFlyCoding } from './file-cache.ts';
import type { HeaderPolicy } from './header-policy.ts';

/** Types that a browser rejects with `nosniff` if an origin mislabels them, by extension. */
const STRICT_TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  wasm: 'application/wasm',
};

/** Less than this fits into one packet anyway. */
const MIN_COMPRESSED_BYTES = 1024;

const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|image\/(?:svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)|font\/(?:ttf|otf)|application\/(?:javascript|json|xml|wasm|[\w.-]+\+(?:json|xml))\b)/;

/** The bytes to send for a file: itself, its precompressed sibling, or itself compressed by `compress`. */
export type Representation = {
  file: BundleFile;
  compress: OnTheFlyCoding | undefined;
  /** The manifest's SHA-256 of the bytes, with the coding if they were compressed here. */
  etag: string;
  /** All headers of a response but the length: names and values in turn. */
  headers: readonly string[];
};

/** What can be sent for one file, computed once. */
type Prepared = {
  codings: readonly string[];
  onTheFly: boolean;
  byCoding: Map<string | undefined, Representation>;
};

export type Representations = {
  /** `ranged`: the request has a Range, so the bytes must be those of a file on the disk. */
  choose(
    site: ServedSite,
    file: BundleFile,
    status: number,
    accepted: string | undefined,
    ranged: boolean,
  ): Representation;
  /** The file as it is, if compressing it on the fly turned out to be useless. */
  plain(site: ServedSite, file: BundleFile, status: number): Representation;
};

/**
 * Keeps the headers of each file as long as its version is in memory and the policy stays.
 * @param isPrivate visitors sign in
 */
export function createRepresentations(policy: HeaderPolicy, isPrivate: boolean): Representations {
  const prepared = { page: new WeakMap<BundleFile, Prepared>(), error: new WeakMap<BundleFile, Prepared>() };

  function prepare(site: ServedSite, file: BundleFile, status: number): Prepared {
    const known = status === 200 ? prepared.page : prepared.error;
    const already = known.get(file);
    if (already !== undefined) return already;
    const siblings = site.siblings(file.path);
    const compressible = file.size >= MIN_COMPRESSED_BYTES && file.size <= MAX_CACHED_BYTES;
    const onTheFly = siblings.length === 0 && compressible && COMPRESSIBLE.test(contentType(file));
    const codings = onTheFly ? ON_THE_FLY_CODINGS : siblings.flatMap(({ encoding }) => encoding ?? []);
    const made = { codings, onTheFly, byCoding: new Map() };
    known.set(file, made);
    return made;
  }

  function represent(site: ServedSite, file: BundleFile, status: number, coding: string | undefined): Representation {
    const { codings, onTheFly, byCoding } = prepare(site, file, status);
    const already = byCoding.get(coding);
    if (already !== undefined) return already;
    const sibling = site.siblings(file.path).find(({ encoding }) => encoding === coding && coding !== undefined);
    const compress = onTheFly ? ON_THE_FLY_CODINGS.find((each) => each === coding) : undefined;
    const sent = sibling ?? file;
    const varies = [
      ...(file.markdown === undefined ? [] : ['Accept']),
      ...(codings.length === 0 ? [] : ['Accept-Encoding']),
    ];
    const etag = compress === undefined ? `"${sent.sha256}"` : `"${sent.sha256}-${compress}"`;
    const own = {
      'Content-Type': contentType(file),
      'Cache-Control': status === 200 ? cacheControl(file.path, isPrivate) : 'no-cache',
      // For the file itself too, so that a cache doesn't send it to clients that accept another coding.
      ...(varies.length === 0 ? {} : { Vary: varies.join(', ') }),
      ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
      // A range has bytes of a file on the disk, so it wouldn't complete what was compressed here.
      ...(status === 200 && compress === undefined ? { 'Accept-Ranges': 'bytes' } : {}),
      ETag: etag,
    };
    const made = { file: sent, compress, etag, headers: policy.headers(pathOf(file), own, bundled(site, file)) };
    byCoding.set(coding, made);
    return made;
  }

  /** What several visitors share must not be kept if visitors sign in. */
  function bundled(site: ServedSite, file: BundleFile): ForeignHeaders {
    const headers = site.headers(file);
    if (!isPrivate) return headers;
    const isOther = (name: string): boolean => !/^(?:[\w-]+-)?cache-control$/i.test(name);
    const set = Object.fromEntries(Object.entries(headers.set).filter(([name]) => isOther(name)));
    return { set, unset: headers.unset.filter(isOther) };
  }

  return {
    choose(site, file, status, accepted, ranged) {
      const { codings, onTheFly } = prepare(site, file, status);
      const coding = onTheFly && ranged ? undefined : chooseEncoding(accepted, codings);
      return represent(site, file, status, coding);
    },
    plain: (site, file, status) => represent(site, file, status, undefined),
  };
}

/** The path that header rules are about: a page's own URL. */
function pathOf({ path, url }: BundleFile): string {
  if (url !== undefined) return url.split('?')[0] ?? url;
  return `/${path}`.replace(/\/index\.html$/, '/');
}

function contentType({ path, contentType: declared }: BundleFile): string {
  const mislabeled = declared === '' || /^(text\/plain|application\/octet-stream)\b/.test(declared);
  const strict = STRICT_TYPES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  if (mislabeled && strict !== undefined) return strict;
  return declared === '' ? 'application/octet-stream' : declared;
}

const IDENTITY = 'identity';

/** Browsers send few different headers, and parsing one costs more than answering from memory. */
const parsed = new LRUCache<string, string>({ max: 500 });
const LONGEST_REMEMBERED = 200;

/**
 * The coding that an Accept-Encoding header prefers. Of equally acceptable ones the first, because browsers don't rank
 * them. Undefined: the file itself, also if nothing is acceptable, which RFC 9110 (12.5.3) allows and all clients can
 * read.
 * @param codings best first
 */
export function chooseEncoding<Coding extends string>(
  accepted: string | undefined,
  codings: readonly Coding[],
): Coding | undefined {
  if (codings.length === 0 || accepted === undefined) return undefined;
  const key = `${codings.join()} ${accepted}`;
  let best = parsed.get(key);
  if (best === undefined) {
    const offered = [...codings, IDENTITY];
    [best = IDENTITY] = new Negotiator({ headers: { 'accept-encoding': accepted } }).encodings(offered, {
      preferred: offered,
    });
    if (key.length <= LONGEST_REMEMBERED) parsed.set(key, best);
  }
  return codings.find((coding) => coding === best);
}
