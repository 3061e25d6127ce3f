import { toUtf8 } from './charset.ts';
import { isNextTree } from './frameworks/next-tree.ts';
import { isPagefind } from './frameworks/pagefind.ts';
import type { DocumentFormat, FetchedDocument, PageDocument } from './types.ts';

const FORMATS: ReadonlyArray<readonly [RegExp, DocumentFormat]> = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^text\/css$/, 'css'],
  [/^(?:text|application)\/(?:x-)?(?:java|ecma)script$/, 'js'],
  [/^image\/svg\+xml$/, 'svg'],
  [/^application\/manifest\+json$/, 'manifest'],
  [/^application\/feed\+json$/, 'feed'],
  [/^(?:text|application)\/xml$|\+xml$/, 'xml'],
];

/** The format by file extension, for servers that send no useful content type. */
const FORMAT_BY_EXTENSION: ReadonlyMap<string, DocumentFormat> = new Map([
  ['html', 'html'],
  ['htm', 'html'],
  ['css', 'css'],
  ['js', 'js'],
  ['mjs', 'js'],
  ['svg', 'svg'],
  ['webmanifest', 'manifest'],
]);
const VAGUE = /^(?:|text\/(?:plain|x-component)|application\/(?:octet-stream|json|x-unknown))$/;

/** Formats that aren't text or always have the same charset. */
const UNTOUCHED: ReadonlySet<DocumentFormat> = new Set(['other', 'pagefind', 'next-tree']);

/** The media type of a content type header: no parameters, lower case. */
export function mediaType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/** The format of a document, by its content type or, if that is vague, by its URL. */
export function documentFormat(contentType: string, url: string): DocumentFormat {
  const type = mediaType(contentType);
  const known = FORMATS.find(([pattern]) => pattern.test(type));
  if (known !== undefined) return known[1];
  if (!VAGUE.test(type)) return 'other';
  const path = url.split(/[?#]/)[0] ?? '';
  if (isPagefind(path)) return 'pagefind';
  if (isNextTree(path)) return 'next-tree';
  const byExtension = FORMAT_BY_EXTENSION.get(/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '');
  if (byExtension !== undefined) return byExtension;
  return type === 'application/json' && /manifest\.json$/.test(path) ? 'manifest' : 'other';
}

/** Larger JSON is not inspected for its format. */
const MAX_SNIFFED_BYTES = 4 * 1024 * 1024;

/** Detects manifests and feeds that are served as plain JSON. */
function jsonFormat(bytes: Uint8Array): DocumentFormat {
  if (bytes.length > MAX_SNIFFED_BYTES) return 'other';
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (text.subarray(0, 1024).includes('jsonfeed.org/version')) return 'feed';
  const isManifest = text.includes('"icons"') && (text.includes('"start_url"') || text.includes('"display"'));
  return isManifest && bytes.length < 64 * 1024 ? 'manifest' : 'other';
}

/**
 * Prepares a fetched document: detects its format and converts it to UTF-8, with its declarations and content type.
 * Bytes that are UTF-8 already or not text are returned as is.
 */
export function readDocument(fetched: FetchedDocument): PageDocument {
  const { bytes, contentType, url } = fetched;
  const named = documentFormat(contentType, url);
  const format = named === 'other' && mediaType(contentType) === 'application/json' ? jsonFormat(bytes) : named;
  if (UNTOUCHED.has(format)) return { ...fetched, format };
  const transcoded = toUtf8(bytes, contentType, format);
  if (transcoded === bytes) return { ...fetched, format };
  return { url, format, bytes: transcoded, contentType: `${mediaType(contentType)}; charset=utf-8` };
}
