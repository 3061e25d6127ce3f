import { createHash } from 'node:crypto';
import { mediaType } from './document.ts';
import { extensionFor, isNamedAsFile } from './file-extension.ts';
import { safeSegment } from './safe-segment.ts';
import type { ResourceKind, Site } from './types.ts';
import { isOfSite } from './url-identity.ts';

/** The path of the not-found page in every bundle. */
export const NOT_FOUND_PATH = '404.html';

/** The folder for files of other hosts, with one subfolder per host. */
const EXTERNAL_FOLDER = '_external';
const MAX_PATH_BYTES = 1000;

export type PathInput = {
  /** Normalized (`normalizeUrl`). */
  url: string;
  /** From the response; decides `.html` and missing extensions. */
  contentType: string;
  /** The strongest kind found for the URL. A `probe` keeps its exact name, because no reference to it is rewritten. */
  kind: ResourceKind;
};

/** The path of a resource in the bundle: pure, the same in every export, and always inside the bundle's root. */
export function assignPath({ url, contentType, kind }: PathInput, site: Site): string {
  const { pathname, search, host } = new URL(url);
  const folders = pathname.split('/').map(decodeSegment);
  const plainName = fileName(folders.pop() ?? '', mediaType(contentType), kind);
  // A static host ignores the query of a URL that a script requests.
  const name = kind === 'probe' ? plainName : withQuery(plainName, search);
  const isOwn = isOfSite(url, site);
  const prefix = isOwn ? [] : [EXTERNAL_FOLDER, host.replaceAll(':', '_')];
  const segments = [...prefix, ...folders, name].filter((segment) => segment !== '').map(safeSegment);
  return withinLength(reserved(segments).join('/'), url);
}

/** The bundle folder (with a trailing slash) for URLs that begin with `url`, which is normalized. */
export function folderPath(url: string, site: Site): string {
  const within = assignPath({ url: new URL('x', url).href, contentType: '', kind: 'probe' }, site);
  return within.slice(0, -1);
}

/** A short stable name for any text: 12 hex digits of its SHA-256. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** `name.ext` with a mark before the extension: `name.{mark}.ext`. */
export function withMark(name: string, mark: string): string {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? `${name}.${mark}` : `${name.slice(0, dot)}.${mark}${name.slice(dot)}`;
}

/** The decoded segment. Escapes that don't decode to text stay, as part of the name. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function fileName(last: string, type: string, kind: ResourceKind): string {
  // A file URL that returns HTML is usually a host's error page, so the file keeps its name.
  const namedOtherwise = isNamedAsFile(last) && (kind !== 'page' || type === '');
  const isHtml = (type === 'text/html' || (type === '' && kind === 'page')) && !namedOtherwise;
  if (last === '') return isHtml || type === '' ? 'index.html' : `index${extensionFor('', type)}`;
  if (isHtml) return /\.(?:html?|xhtml)$/i.test(last) ? last : `${last}.html`;
  return kind === 'probe' ? last : last + extensionFor(last, type);
}

/** One path with two queries becomes two files. */
function withQuery(name: string, search: string): string {
  return search === '' ? name : withMark(name, shortHash(search));
}

/** `.galley/` is reserved for the bundle itself, also on case-insensitive file systems. */
function reserved(segments: string[]): string[] {
  const [first = '', ...others] = segments;
  return first.toLowerCase() === '.galley' ? ['_galley', ...others] : segments;
}

function withinLength(path: string, url: string): string {
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
  return `_long/${withMark(path.slice(path.lastIndexOf('/') + 1), shortHash(url))}`;
}
