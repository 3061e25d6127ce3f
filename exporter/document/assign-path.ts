import { createHash } from 'node:crypto';
import { mediaType } from './document.ts';
import { extensionFor, isNamedAsFile } from './file-extension.ts';
import { safeSegment } from './safe-segment.ts';
import type { ResourceKind, Site } from './types.ts';
import { isOfSite } from './url-identity.ts';

/** The path of the not-found page in every bundle. */
export const NOT_FOUND_PATH = '404.html';

/** Where what other hosts serve is kept, a folder a host. */
const EXTERNAL_FOLDER = '_external';
const MAX_PATH_BYTES = 1000;

export type PathInput = {
  /** Normalised (`normalizeUrl`). */
  url: string;
  /** As the origin answered; decides `.html` and missing extensions. */
  contentType: string;
  /** The strongest kind under which it was found. A `probe` keeps its exact name: nothing rewrites its mention. */
  kind: ResourceKind;
};

/** The path of a resource in the bundle: pure, the same in every export, always inside the bundle's root. */
export function assignPath({ url, contentType, kind }: PathInput, site: Site): string {
  const { pathname, search, host } = new URL(url);
  const folders = pathname.split('/').map(decodeSegment);
  const plainName = fileName(folders.pop() ?? '', mediaType(contentType), kind);
  // What a script asks for with a query is served by a static host as if it had none.
  const name = kind === 'probe' ? plainName : withQuery(plainName, search);
  const isOwn = isOfSite(url, site);
  const prefix = isOwn ? [] : [EXTERNAL_FOLDER, host.replaceAll(':', '_')];
  const segments = [...prefix, ...folders, name].filter((segment) => segment !== '').map(safeSegment);
  return withinLength(reserved(segments).join('/'), url);
}

/** The folder of the bundle, with a slash at its end, for addresses that begin with `url` (normalised, its name cut off). */
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

/** What an address spells, where that is text; otherwise its escapes stay, and are part of the name. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function fileName(last: string, type: string, kind: ResourceKind): string {
  // What is loaded as a file and answered with HTML is a host's way of saying no: its name stays.
  const namedOtherwise = isNamedAsFile(last) && (kind !== 'page' || type === '');
  const isHtml = (type === 'text/html' || (type === '' && kind === 'page')) && !namedOtherwise;
  if (last === '') return isHtml || type === '' ? 'index.html' : `index${extensionFor('', type)}`;
  if (isHtml) return /\.(?:html?|xhtml)$/i.test(last) ? last : `${last}.html`;
  return kind === 'probe' ? last : last + extensionFor(last, type);
}

/** Two queries of one path are two files. */
function withQuery(name: string, search: string): string {
  return search === '' ? name : withMark(name, shortHash(search));
}

/** `.galley/` is the bundle's own, on file systems that know no case too. */
function reserved(segments: string[]): string[] {
  const [first = '', ...others] = segments;
  return first.toLowerCase() === '.galley' ? ['_galley', ...others] : segments;
}

function withinLength(path: string, url: string): string {
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
  return `_long/${withMark(path.slice(path.lastIndexOf('/') + 1), shortHash(url))}`;
}
