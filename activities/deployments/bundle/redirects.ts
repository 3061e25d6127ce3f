import { posix } from 'node:path';
import { isReserved, pathProblem } from '../../../bundle/path.ts';
import { decodePath, encodePath } from '../../../bundle/url.ts';
import type { BundleManifest } from '../../../contract/bundle.ts';
import { movedFiles, originalUrls } from './original-urls.ts';

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

/**
 * Lines as Netlify and Cloudflare Pages read `_redirects`: one per redirect, and one with the status 200 for each file
 * that they wouldn't find by its URL at the origin.
 */
export function redirectsFile({ files, redirects }: Pick<BundleManifest, 'files' | 'redirects'>): string {
  const moved = redirects.map(({ from, to, status }) => `${encoded(from)} ${encoded(to)} ${status}\n`);
  const stored = movedFiles(files)
    // There, `*` and `:name` are patterns, and a query can't be one.
    .filter(({ url }) => !/[*?]|\/:/.test(url))
    .map(({ url, file }) => `${url} /${encodePath(file.path)} 200\n`);
  return [...moved, ...stored].join('');
}

/**
 * A page for each redirect from a path that no file of the bundle has.
 * @param everyName also for a path such as `/old.pdf`, if the place redirects and nobody reads the page
 */
export function redirectPages(
  { files, redirects }: Pick<BundleManifest, 'files' | 'redirects'>,
  { everyName = false } = {},
): RedirectPage[] {
  const taken = new Set(files.map(({ path }) => path));
  const stored = new Map(originalUrls(files).map(({ url, file }) => [url, file.path]));
  const folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
  return redirects.flatMap(({ from, to }) => {
    const path = fileOf(from, everyName);
    if (path === undefined || taken.has(path) || folders.has(path) || foldersOf(path).some((each) => taken.has(each)))
      return [];
    taken.add(path);
    for (const folder of foldersOf(path)) folders.add(folder);
    return [{ path, from: decodePath(from).slice(1), to, html: pageOf(relativeTo(path, to, { taken, stored })) }];
  });
}

/** The file of a page's path; undefined if it can't be one. */
function fileOf(urlPath: string, everyName = false): string | undefined {
  const path = decodePath(urlPath).slice(1);
  const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  const extension = posix.extname(file);
  const isOtherFile = /^\.(?!html?$)[a-z0-9]{1,5}$/i.test(extension);
  const page = isOtherFile || /^\.html?$/.test(extension) ? file : `${file}.html`;
  const isUnsafe = isReserved(page) || pathProblem(page) !== undefined;
  return /[?#]/.test(urlPath) || (isOtherFile && !everyName) || isUnsafe ? undefined : page;
}

type Known = { taken: ReadonlySet<string>; stored: ReadonlyMap<string, string> };

/** A link that works in a folder too, if the bundle has the page or file. */
function relativeTo(stub: string, to: string, { taken, stored }: Known): string {
  const [, path = '', rest = ''] = /^(\/[^?#]*)(.*)$/.exec(to) ?? [];
  const file = stored.get(path) ?? (path === '' ? undefined : fileOf(path));
  if (file === undefined || !taken.has(file)) return to;
  return encodePath(posix.relative(posix.dirname(stub), file)) + rest;
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
export function encoded(url: string): string {
  return url.replaceAll(/[\s\p{Cc}]/gu, (character) => encodeURIComponent(character));
}
