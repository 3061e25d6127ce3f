import { folderPath, NOT_FOUND_PATH } from './assign-path.ts';
import { decodeBytes } from './spanned-text.ts';
import type { RewriteInput } from './types.ts';
import { isOfSite } from './url-identity.ts';

/** Characters that need no escaping in a link, in CSS or in a script, so they stay readable. */
const READABLE = /%(?:40|24|2C|3D)/g;

/** A bundle path as part of a URL, with each segment escaped. */
export function encodePath(path: string): string {
  if (/^[\w.~/-]*$/.test(path)) return path;
  return path.split('/').map(encodeSegment).join('/');
}

function encodeSegment(segment: string): string {
  if (/^[\w.~-]*$/.test(segment)) return segment;
  return encodeURIComponent(segment)
    .replace(READABLE, decodeURIComponent)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The link from one file of the bundle to another, such as `../guides/start.html`. */
export function relativeLink(from: string, to: string): string {
  // Compares characters, because a site can have millions of links and splitting both paths is several times slower.
  let shared = 0;
  for (let at = 0; at < from.length && from[at] === to[at]; at += 1) if (from[at] === '/') shared = at + 1;
  let up = '';
  for (let at = from.indexOf('/', shared); at !== -1; at = from.indexOf('/', at + 1)) up += '../';
  return up + encodePath(to.slice(shared));
}

/** Relative, without a query, and with no character that needs escaping other than `&amp;`. */
const PLAIN_RELATIVE = /^(?!\/|[a-z][a-z0-9+.-]*:)(?:[\w\-.~/%@+,;:=$!*'()\x80-\xff]|&amp;)+$/i;

/** Whether the link `written` already leads from one file to the other, in any spelling. */
export function leadsTo(written: string, from: string, to: string): boolean {
  if (!PLAIN_RELATIVE.test(written)) return false;
  const link = decodeBytes(written).replaceAll('&amp;', '&');
  const { pathname } = new URL(link, `https://bundle.invalid/${encodePath(from)}`);
  try {
    return decodeURIComponent(pathname) === `/${to}`;
  } catch {
    return false;
  }
}

/** After byte `start`, the document's relative URLs are resolved against `folder` of the bundle. */
export type DocumentBase = { start: number; folder: string };

/**
 * The `<base>` that a document keeps. Scripts such as client-side routers may resolve URLs against it, so a base
 * within the site stays and becomes relative. A base on another host is removed. The not-found page gets its own base.
 */
export function documentBase({ extraction, site, ownPath }: RewriteInput): DocumentBase | undefined {
  if (ownPath === NOT_FOUND_PATH) return undefined;
  const mark = extraction.marks.find(([, , kind, note]) => kind === 'base' && typeof note === 'string');
  if (mark === undefined || typeof mark[3] !== 'string' || !isOfSite(mark[3], site)) return undefined;
  return { start: mark[0], folder: folderPath(mark[3], site) };
}

/** The base's `href`: a relative URL in ASCII that needs no escaping. */
export function baseLink(input: RewriteInput): string | undefined {
  const base = documentBase(input);
  return base === undefined ? undefined : relativeLink(input.ownPath, base.folder) || './';
}
