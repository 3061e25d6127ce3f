import { createHash } from 'node:crypto';
import { lookup } from 'mime-types';
import { type BundleFile, type BundleManifest, contentDigestLine, MANIFEST_PATH } from '../contract/bundle.ts';
import { BundleInvalidError, quoted } from './errors.ts';
import type { BundleLimits } from './manifest.ts';
import { isReserved, pathProblem } from './path.ts';
import { bytesOf, type Entry, readEntries } from './read-entries.ts';
import { HEADERS_PATH, parseHeaders, parseRedirects, REDIRECTS_PATH, redirectsOf } from './static-rules.ts';

/** The manifest of a bundle that has none. */
type Computed = {
  manifest: Buffer;
  /** A file's path in the manifest by the name of its entry; undefined for a folder. */
  pathOf(entry: Entry): string | undefined;
};

/** What tar adds to each entry: its header, a pax header with a long path, and padding. */
const OVERHEAD_BYTES_PER_ENTRY = 8 * 1024;
const END_BYTES = 1024 * 1024;

/** Of `_redirects` and `_headers`. */
const MAX_RULES_BYTES = 1024 * 1024;

/** What tells a page from other content without an extension. */
const START_BYTES = 512;

/** No service's own names: a bundle without a manifest has no job and no domain. */
const UNKNOWN = 'unknown';

/**
 * Computes the manifest of a bundle that another service made: a `.tar.gz` of static files, perhaps under one top folder.
 * Equal archives have equal manifests. Writes nothing, so a bad archive leaves nothing.
 * @throws BundleInvalidError naming what is wrong
 */
export async function computeManifest(
  source: AsyncIterable<Buffer>,
  limits: BundleLimits,
  signal?: AbortSignal,
): Promise<Computed> {
  const archive = createHash('sha256');
  const files: BundleFile[] = [];
  const rules = new Map<string, string>();
  let newestMs = 0;
  const maxBytes = limits.maxUnpackedBytes + limits.maxFiles * OVERHEAD_BYTES_PER_ENTRY + END_BYTES;
  const bound = { maxBytes, limit: `the ${limits.maxUnpackedBytes} bytes allowed` };
  const onEntry = async (entry: Entry): Promise<undefined> => {
    const path = plainPath(entry);
    if (path === undefined) return;
    const problem = pathProblem(path);
    if (problem !== undefined) throw new BundleInvalidError(`the path ${quoted(path)} ${problem}`);
    if (isReserved(path)) {
      throw new BundleInvalidError(`the archive has the path ${quoted(path)} but doesn't begin with ${MANIFEST_PATH}`);
    }
    if (files.length >= limits.maxFiles) {
      throw new BundleInvalidError(`the archive has more than the ${limits.maxFiles} files allowed`);
    }
    newestMs = Math.max(newestMs, entry.header.mtime?.getTime() || 0);
    files.push(await describe(path, entry, rules));
  };
  await readEntries(hashing(source, archive), bound, onEntry, signal, { folders: true });
  if (files.length === 0) throw new BundleInvalidError('the archive has no files');
  const prefix = topFolder(files);
  const pathOf = (entry: Entry): string | undefined => plainPath(entry)?.slice(prefix.length);
  const described = files
    .map((file) => ({ ...file, path: file.path.slice(prefix.length) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const manifest = {
    formatVersion: 1,
    ...{ jobId: UNKNOWN, domain: UNKNOWN, version: archive.digest('hex').slice(0, 12) },
    createdAt: new Date(newestMs).toISOString(),
    contentSha256: digestOf(described),
    pageCount: described.filter(({ contentType }) => contentType.startsWith('text/html')).length,
    files: described,
    ...rulesOf(described, (path) => rules.get(prefix + path)),
  } satisfies BundleManifest;
  return { manifest: Buffer.from(JSON.stringify(manifest)), pathOf };
}

async function* hashing(source: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Without `./`, as many tools write it. */
function plainPath({ header: { name, type } }: Entry): string | undefined {
  return type === 'directory' ? undefined : name.replace(/^(?:\.\/+)+/, '');
}

async function describe(path: string, entry: Entry, rules: Map<string, string>): Promise<BundleFile> {
  const hash = createHash('sha256');
  const start: Buffer[] = [];
  let size = 0;
  const isRules = /(?:^|\/)_(?:redirects|headers)$/.test(path);
  const wanted = isRules ? MAX_RULES_BYTES : START_BYTES;
  for await (const chunk of bytesOf(entry)) {
    if (size < wanted) start.push(chunk.subarray(0, wanted - size));
    size += chunk.length;
    hash.update(chunk);
  }
  const text = Buffer.concat(start).toString('utf8');
  if (isRules && path.split('/').length <= 2) {
    if (size > MAX_RULES_BYTES) throw new BundleInvalidError(`the file ${quoted(path)} is larger than 1 MiB`);
    rules.set(path, text);
  }
  return { path, size, sha256: hash.digest('hex'), contentType: typeOf(path, text) };
}

/** The type that static hosts send. */
function typeOf(path: string, start: string): string {
  const type =
    lookup(path) || (/^\s*<(?:!doctype html|html)\b/i.test(start) ? 'text/html' : 'application/octet-stream');
  const isText = type.startsWith('text/') || /^application\/(?:json|manifest\+json|xml|rss\+xml|atom\+xml)$/.test(type);
  return isText ? `${type}; charset=utf-8` : type;
}

/** The one folder that has all files, with its slash; empty if there is none. */
function topFolder(files: readonly BundleFile[]): string {
  const first = files[0]?.path ?? '';
  const folder = first.slice(0, first.indexOf('/') + 1);
  return files.every(({ path }) => path.startsWith(folder)) ? folder : '';
}

function digestOf(files: readonly BundleFile[]): string {
  const digest = createHash('sha256');
  for (const file of files) digest.update(contentDigestLine(file));
  return digest.digest('hex');
}

function rulesOf(files: readonly BundleFile[], textOf: (path: string) => string | undefined) {
  const redirects = parseRedirects(textOf(REDIRECTS_PATH) ?? '');
  const headers = parseHeaders(textOf(HEADERS_PATH) ?? '');
  const ignored = [...redirects.ignored, ...headers.ignored];
  const paths = new Set(files.map(({ path }) => path));
  return {
    redirects: redirectsOf(redirects.rules, paths),
    foreign: { rules: redirects.rules, headers: headers.rules, ignored },
  };
}
