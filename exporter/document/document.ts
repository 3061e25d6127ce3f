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

/** For servers that know little: what a file's name says where the content type says nothing in particular. */
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

/** What is no text, or has one charset only. */
const UNTOUCHED: ReadonlySet<DocumentFormat> = new Set(['other', 'pagefind', 'next-tree']);

/** The type of a content type header without its parameters, in lower case. */
export function mediaType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/** How a document is read, by its content type and, where that says nothing, by its address. */
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

/** The largest JSON that is looked into for what it is. */
const MAX_SNIFFED_BYTES = 4 * 1024 * 1024;

/** What plain JSON is: manifests and feeds are often served as nothing more. */
function jsonFormat(bytes: Uint8Array): DocumentFormat {
  if (bytes.length > MAX_SNIFFED_BYTES) return 'other';
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (text.subarray(0, 1024).includes('jsonfeed.org/version')) return 'feed';
  const isManifest = text.includes('"icons"') && (text.includes('"start_url"') || text.includes('"display"'));
  return isManifest && bytes.length < 64 * 1024 ? 'manifest' : 'other';
}

/**
 * Makes a fetched document ready: decides its format and brings another charset to UTF-8, declarations and content
 * type included. Bytes that are UTF-8 already (or of no text format) come back untouched.
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
