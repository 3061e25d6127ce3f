import { decodeBytes } from './spanned-text.ts';

/** Characters that need no escape in a link, in CSS or in a script: their plain spelling is the readable one. */
const READABLE = /%(?:40|24|2C|3D)/g;

/** A bundle path as part of an address: each segment escaped. */
export function encodePath(path: string): string {
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
  const fromFolders = from.split('/').slice(0, -1);
  const toSegments = to.split('/');
  let shared = 0;
  while (shared < fromFolders.length && shared < toSegments.length - 1 && fromFolders[shared] === toSegments[shared]) {
    shared += 1;
  }
  return '../'.repeat(fromFolders.length - shared) + encodePath(toSegments.slice(shared).join('/'));
}

/** Relative, without query and of no character that some context escapes otherwise than as `&amp;`. */
const PLAIN_RELATIVE = /^(?!\/|[a-z][a-z0-9+.-]*:)(?:[\w\-.~/%@+,;:=$!*'()\x80-\xff]|&amp;)+$/i;

/** Whether `written` (bytes as they stand) leads from one file to the other already, in whatever spelling. */
export function leadsTo(written: string, from: string, to: string): boolean {
  if (!PLAIN_RELATIVE.test(written)) return false;
  const address = decodeBytes(written).replaceAll('&amp;', '&');
  const { pathname } = new URL(address, `https://bundle.invalid/${encodePath(from)}`);
  try {
    return decodeURIComponent(pathname) === `/${to}`;
  } catch {
    return false;
  }
}
