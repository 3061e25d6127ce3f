import { posix } from 'node:path';
import { isReserved, pathProblem } from '../../../bundle/path.ts';
import type { BundleFile, BundleManifest, BundleRedirect } from '../../../contract/bundle.ts';

/** A redirect whose old path a static host can serve as a file. */
type RedirectPage = {
  /** The file's path. */
  path: string;
  /** The path that was requested, without its first slash. */
  from: string;
  /** The new URL as the origin gave it. */
  to: string;
  /** A page that leads on without the help of a server. */
  html: string;
};

/** One line per redirect, as Netlify and Cloudflare Pages read `_redirects`. */
export function redirectsFile(redirects: readonly BundleRedirect[]): string {
  return redirects.map(({ from, to, status }) => `${encoded(from)} ${encoded(to)} ${status}\n`).join('');
}

/** What the `map_hash_bucket_size` in the guide has room for. */
const MAX_MAP_KEY = 1_000;
/** nginx reads no longer word from its configuration than 4,096 bytes. */
const MAX_MAP_VALUE = 4_000;

/**
 * The inside of `map $request_uri $target { … }` of nginx. It leaves out what nginx would read as a variable or an
 * expression, and what is too long for it. nginx compares keys without case: it would reject `/A` beside `/a`, and
 * follow `/a` to `/A` forever. So a path that is also known in another case gets a regular expression.
 */
export function nginxMap({ files, redirects }: Pick<BundleManifest, 'files' | 'redirects'>): string {
  const urls = [...redirects.flatMap(({ from, to }) => [from, to]), ...files.flatMap(urlsOf)];
  const inUpperCase = new Set(urls.filter((url) => url !== url.toLowerCase()).map((url) => url.toLowerCase()));
  const lines = redirects
    .map(({ from, to }) => [encoded(from), encoded(to)] as const)
    .filter(([from, to]) => !/[$"\\;{}]/.test(from + to) && isReadable(from, to))
    .map(([from, to]) => {
      const key = inUpperCase.has(from.toLowerCase()) ? `~^${from.replaceAll(/[.*+?^()|[\]]/g, '\\$&')}$` : from;
      return `"${key}" "${to}";\n`;
    });
  return lines.join('');
}

function isReadable(from: string, to: string): boolean {
  return Buffer.byteLength(from) <= MAX_MAP_KEY && Buffer.byteLength(to) <= MAX_MAP_VALUE;
}

/** The URLs under which a server may serve the file. */
function urlsOf({ path, url }: BundleFile): string[] {
  const name = `/${path}`;
  return [url ?? name, name, name.replace(/\.html$/, ''), name.replace(/index\.html$/, '')];
}

/** A page for each redirect from a path that no file of the bundle has. One from another kind of file can't be a page. */
export function redirectPages({ files, redirects }: BundleManifest): RedirectPage[] {
  const taken = new Set(files.map(({ path }) => path));
  const folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
  return redirects.flatMap(({ from, to }) => {
    const path = fileOf(from);
    if (path === undefined || taken.has(path) || folders.has(path) || foldersOf(path).some((each) => taken.has(each)))
      return [];
    taken.add(path);
    for (const folder of foldersOf(path)) folders.add(folder);
    return [{ path, from: decode(from).slice(1), to, html: pageOf(relativeTo(path, to, taken)) }];
  });
}

/** The file of a page's path; undefined if it can't be one. */
function fileOf(urlPath: string): string | undefined {
  const path = decode(urlPath).slice(1);
  const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  const extension = posix.extname(file);
  const page = /^\.html?$/.test(extension) ? file : `${file}.html`;
  const isOtherFile = /^\.[a-z0-9]{1,5}$/i.test(extension) && page !== file;
  const isUnsafe = isReserved(page) || pathProblem(page) !== undefined;
  return /[?#]/.test(urlPath) || isOtherFile || isUnsafe ? undefined : page;
}

/** A link that works in a folder too, if the bundle has the page. */
function relativeTo(stub: string, to: string, taken: ReadonlySet<string>): string {
  const [, path = '', rest = ''] = /^(\/[^?#]*)(.*)$/.exec(to) ?? [];
  const file = path === '' ? undefined : fileOf(path);
  if (file === undefined || !taken.has(file)) return to;
  const relative = posix.relative(posix.dirname(stub), file);
  return relative.split('/').map(encodeURIComponent).join('/') + rest;
}

function pageOf(to: string): string {
  const url = to.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return (
    '<!doctype html><meta charset="utf-8"><title>Redirect</title><meta name="robots" content="noindex">' +
    `<meta http-equiv="refresh" content="0; url=${url}"><a href="${url}">${url}</a>\n`
  );
}

/** The folders above a file, the outermost first. */
export function foldersOf(path: string): string[] {
  const segments = path.split('/').slice(0, -1);
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'));
}

/** A configuration file has one redirect per line, so the URL must contain no spaces and no line ends. */
function encoded(url: string): string {
  return url.replaceAll(/[\s\p{Cc}]/gu, (character) => encodeURIComponent(character));
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
