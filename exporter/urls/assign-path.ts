import { sha256Hex } from '../../base/sha256.ts';
import { GALLEY_FOLDER, isReserved, MAX_PATH_BYTES } from '../../bundle/path.ts';
import { decodeSegment } from '../../bundle/url.ts';
import type { ResourceKind, Site } from './identity.ts';
import { isOfSite } from './identity.ts';

/** The path of the not-found page in every bundle. */
export const NOT_FOUND_PATH = '404.html';

/** The URL under which the not-found page is stored, whichever URL it came from. */
export function notFoundUrl(site: Pick<Site, 'domain'>): string {
  return `https://${site.domain}/404.html`;
}

/**
 * The URL of an empty file that every bundle has: GitHub Pages then also serves names that begin with an underscore. It
 * isn't requested.
 */
export function noJekyllUrl(site: Pick<Site, 'domain'>): string {
  return `https://${site.domain}/.nojekyll`;
}

/** The folder for files of other hosts, with one subfolder per host. */
const EXTERNAL_FOLDER = '_external';
/** The folder for files whose paths would be too long. */
const LONG_FOLDER = '_long';

/** The folder of the index that an export makes, and of its scripts. */
export const SEARCH_FOLDER = '_pagefind/';
/** The script that pages load if there is such an index: it opens the search page. */
export const SHORTCUT_PATH = `${SEARCH_FOLDER}shortcut.js`;

/** What collisions and precompressed siblings may add to a name. */
const ADDED_BYTES = 24;

type PathInput = {
  /** Normalized (`normalizeUrl`). */
  url: string;
  /** The response's content type, which decides `.html` and missing extensions. */
  contentType: string;
  /** The strongest kind found for the URL. A `probe` or `guess` keeps its exact name, because not every reference to it is rewritten. */
  kind: ResourceKind;
};

/** The path of a resource in the bundle: pure, the same in every export, and always inside the bundle's root. */
export function assignPath({ url, contentType, kind }: PathInput, site: Site): string {
  const { pathname, search, host } = new URL(url);
  const folders = pathname.split('/').map(decodeSegment);
  const plainName = fileName(folders.pop() ?? '', mediaType(contentType), kind);
  // A static host ignores the query of a URL that a script requests.
  const name = isGuessed(kind) ? plainName : withQuery(plainName, search);
  const isOwn = isOfSite(url, site);
  const prefix = isOwn ? [] : [EXTERNAL_FOLDER, host.replaceAll(':', '_')];
  const segments = [...prefix, ...folders, name].filter((segment) => segment !== '').map(safeSegment);
  return withinLength(unreserved(segments.join('/')), url);
}

function isGuessed(kind: ResourceKind): boolean {
  return kind === 'probe' || kind === 'guess';
}

/** The media type of a content type header: no parameters, lower case. */
export function mediaType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/** The bundle folder (with a trailing slash) for URLs that begin with `url`, which is normalized. */
export function folderPath(url: string, site: Site): string {
  const within = assignPath({ url: new URL('x', url).href, contentType: '', kind: 'probe' }, site);
  return within.slice(0, -1);
}

/** A short stable name for any text: 12 hex digits of its SHA-256. */
export function shortHash(text: string): string {
  return sha256Hex(text).slice(0, 12);
}

/** `name.ext` with a mark before the extension: `name.{mark}.ext`. */
export function withMark(name: string, mark: string): string {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? `${name}.${mark}` : `${name.slice(0, dot)}.${mark}${name.slice(dot)}`;
}

function fileName(last: string, type: string, kind: ResourceKind): string {
  // A file URL that returns HTML is usually a host's error page, so the file keeps its name.
  const namedOtherwise = isNamedAsFile(last) && (kind !== 'page' || type === '');
  const isHtml = (type === 'text/html' || (type === '' && kind === 'page')) && !namedOtherwise;
  if (last === '') return isHtml || type === '' ? 'index.html' : `index${extensionFor('', type)}`;
  if (isHtml) return /\.(?:html?|xhtml)$/i.test(last) ? last : `${last}.html`;
  return isGuessed(kind) ? last : last + extensionFor(last, type);
}

/** One path with two queries becomes two files. */
function withQuery(name: string, search: string): string {
  return search === '' ? name : withMark(name, shortHash(search));
}

/** Galley's own folder is reserved for the bundle itself. */
function unreserved(path: string): string {
  return isReserved(path) ? path.replace(/^[^/]+/, GALLEY_FOLDER.replace('.', '_')) : path;
}

function withinLength(path: string, url: string): string {
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES - ADDED_BYTES) return path;
  return `${LONG_FOLDER}/${withMark(path.slice(path.lastIndexOf('/') + 1), shortHash(url))}`;
}

const MAX_NAME_BYTES = 200;
/**
 * Characters that some file system or archive tool rejects or misreads. U+FFFD stands for bytes that aren't text, and
 * older deployments reject it.
 */
const UNSAFE = /[\p{Cc}\uFFFD"*/:<>?\\|]/gu;
/** Most names need no escaping. */
const PLAIN = /^[\w.-]*[\w-]$/;
/** Reserved device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Makes a URL segment a valid name on every file system: readable, percent-escaped, and at most 200 bytes. */
function safeSegment(segment: string): string {
  const name = PLAIN.test(segment) ? segment : escaped(segment);
  return shortened(DEVICE.test(name) ? `_${name}` : name);
}

function escaped(segment: string): string {
  return segment
    .replace(UNSAFE, percentEncode)
    .replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'))
    .replace(/[. ]$/, percentEncode);
}

/** `encodeURIComponent` alone keeps most of the ASCII characters that are unsafe here. */
function percentEncode(character: string): string {
  if (character > '\x7f') return encodeURIComponent(character);
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function shortened(name: string): string {
  // A UTF-16 code unit takes at most three bytes.
  if (name.length * 3 <= MAX_NAME_BYTES || Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const hash = sha256Hex(name).slice(0, 16);
  const extension = /\.[A-Za-z0-9]{1,12}$/.exec(name)?.[0] ?? '';
  let head = '';
  let size = 0;
  for (const character of name) {
    size += Buffer.byteLength(character);
    if (size > MAX_NAME_BYTES - 40) break;
    head += character;
  }
  return `${head.replace(/[. ]+$/, '')}.${hash}${extension}`;
}

/** The extensions of each media type; the first is appended to a file without one. */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  'text/css': ['css'],
  'text/javascript': ['js', 'mjs', 'cjs'],
  'application/javascript': ['js', 'mjs', 'cjs'],
  'application/x-javascript': ['js', 'mjs', 'cjs'],
  'image/svg+xml': ['svg'],
  'image/png': ['png', 'apng'],
  'image/apng': ['apng', 'png'],
  'image/jpeg': ['jpg', 'jpeg', 'jfif', 'jpe'],
  'image/gif': ['gif'],
  'image/webp': ['webp'],
  'image/avif': ['avif'],
  'image/bmp': ['bmp'],
  'image/x-icon': ['ico'],
  'image/vnd.microsoft.icon': ['ico'],
  'font/woff2': ['woff2'],
  'font/woff': ['woff'],
  'application/font-woff': ['woff', 'woff2'],
  'application/font-woff2': ['woff2'],
  'font/ttf': ['ttf'],
  'font/otf': ['otf'],
  'application/vnd.ms-fontobject': ['eot'],
  'video/mp4': ['mp4', 'm4v'],
  'video/webm': ['webm'],
  'audio/mpeg': ['mp3'],
  'audio/ogg': ['ogg', 'oga', 'opus'],
  'application/pdf': ['pdf'],
  'application/wasm': ['wasm'],
  'application/manifest+json': ['webmanifest', 'json'],
  'application/xhtml+xml': ['xhtml', 'html', 'htm', 'xht'],
  'application/rss+xml': ['xml', 'rss'],
  'application/atom+xml': ['xml', 'atom'],
};

/** Extensions for generic types, used only if a file has none. */
const WEAK: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/xml': 'xml',
  'application/xml': 'xml',
  'application/json': 'json',
  'text/csv': 'csv',
  'text/markdown': 'md',
};

/** Known extensions: a URL that ends in one keeps its name, whatever its content type. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(EXTENSIONS).flat(),
  ...Object.values(WEAK),
  ...['zip', 'gz', 'tgz', 'map', 'mov', 'wav', 'flac', 'webmanifest', 'tif', 'tiff', 'jxl', 'heic', 'ics', 'epub'],
]);

const PAGES: ReadonlySet<string> = new Set(['html', 'htm', 'xhtml', 'xht']);

function extensionOf(name: string): string | undefined {
  return /\.([A-Za-z0-9]{1,12})$/.exec(name)?.[1]?.toLowerCase();
}

/** Whether a name ends in a known extension that isn't one of a page. */
function isNamedAsFile(name: string): boolean {
  const own = extensionOf(name);
  return own !== undefined && KNOWN.has(own) && !PAGES.has(own);
}

/**
 * What to append to a file name so that a static host serves it with its type (`.css` for `fonts?family=…`), or
 * nothing.
 */
function extensionFor(name: string, type: string): string {
  const own = extensionOf(name);
  if (own !== undefined && KNOWN.has(own)) return '';
  const [strong] = Object.hasOwn(EXTENSIONS, type) ? (EXTENSIONS[type] ?? []) : [];
  if (strong !== undefined) return `.${strong}`;
  return own === undefined && Object.hasOwn(WEAK, type) ? `.${WEAK[type]}` : '';
}
