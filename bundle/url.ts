/**
 * When two URLs are the same, for crawler, manifest and deployments. Spellings of a URL differ in their escapes, the
 * letter case of escapes, dot segments, and an empty query; all have one canonical form.
 */

const ESCAPE = /%[0-9a-f]{2}/gi;
/** Characters with the same meaning escaped or plain. Not `+`, because some servers read it as a space. */
const PLAIN_IN_PATH = /[A-Za-z0-9\-._~!$'()*,:;=@&]/;
/** `&` and `=` separate fields in a query. */
const PLAIN_IN_QUERY = /[A-Za-z0-9\-._~!$'()*,:;@]/;

/** The canonical form of a URL that the URL parser has read: its path and query. */
export function canonicalPathAndQuery({ pathname, search }: Pick<URL, 'pathname' | 'search'>): string {
  return canonicalEscapes(pathname, PLAIN_IN_PATH) + canonicalEscapes(search, PLAIN_IN_QUERY);
}

/** What isn't in its canonical form, or may not be: unusual characters, dot segments, an empty query. */
const UNUSUAL = /[^\w\-.~!$'()*,:;=@&+/?]|\/\.|\?$/;

/** The canonical form of a path with its query, which begins with a slash. A fragment is dropped. */
export function canonicalTarget(target: string): string {
  // Most requests need no parsing.
  return UNUSUAL.test(target) ? canonicalPathAndQuery(new URL(`http://bundle.invalid${target}`)) : target;
}

function canonicalEscapes(text: string, plain: RegExp): string {
  const escaped = text.includes('%') ? text.replace(ESCAPE, (found) => canonicalEscape(found, plain)) : text;
  return /[|^[\]]/.test(escaped) ? escaped.replace(/[|^[\]]/g, percentEncode) : escaped;
}

function canonicalEscape(escaped: string, plain: RegExp): string {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
  return plain.test(character) ? character : escaped.toUpperCase();
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Escapes the bytes beyond ASCII of a text that Node read from a request line or header, as browsers do. */
export function escapeBytes(latin1: string): string {
  return latin1.replace(/[\x80-\xff]/g, percentEncode);
}

/** The path of a URL that leads to a file of this path. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** A URL's path in plain text. Segments with escapes that don't decode to text stay as they are. */
export function decodePath(path: string): string {
  return path.includes('%') ? path.split('/').map(decodeSegment).join('/') : path;
}

/** The decoded segment. Escapes that don't decode to text stay, as part of the name. */
export function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Encodes what a header can't contain: a manifest's redirect may use any script. */
export function encodeLocation(location: string): string {
  // Half a surrogate pair can't be encoded; a buffer replaces it.
  return Buffer.from(location)
    .toString()
    .replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}
