import { mediaType } from '../urls/assign-path.ts';
import { charsetOf, legacyCharset, toUtf8 } from './charset.ts';
import { isNextTree } from './frameworks/next.ts';
import { isPagefind } from './frameworks/pagefind.ts';
import type { DocumentFormat, FetchedDocument, PageDocument } from './types.ts';

const FORMATS: ReadonlyArray<readonly [RegExp, DocumentFormat]> = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^text\/css$/, 'css'],
  [/^(?:text|application)\/(?:x-)?(?:java|ecma)script$/, 'js'],
  [/^image\/svg\+xml$/, 'svg'],
  [/^application\/manifest\+json$/, 'manifest'],
  [/^application\/feed\+json$/, 'feed'],
  [/^application\/dash\+xml$|^video\/vnd\.mpeg\.dash\.mpd$/, 'dash'],
  [/^(?:application|audio)\/(?:vnd\.apple\.|x-)?mpegurl$/, 'hls'],
  [/^text\/vtt$/, 'vtt'],
  [/^(?:text|application)\/xml$|\+xml$/, 'xml'],
  [/^(?:text|application)\/(?:[\w.-]+[+.])?(?:x-)?ya?ml$|^application\/vnd\.oai\.openapi$/, 'yaml'],
];
const JSON_TYPE = /^(?:text|application|model)\/(?:[\w.-]+\+)?json$/;

/** The format by file extension, for servers that send no useful content type. */
const FORMAT_BY_EXTENSION: ReadonlyMap<string, DocumentFormat> = new Map([
  ['html', 'html'],
  ['htm', 'html'],
  ['css', 'css'],
  ['js', 'js'],
  ['mjs', 'js'],
  ['svg', 'svg'],
  ['webmanifest', 'manifest'],
  ['json', 'json'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
  ['mpd', 'dash'],
  ['m3u8', 'hls'],
  ['m3u', 'hls'],
  ['vtt', 'vtt'],
]);
const VAGUE = /^(?:|text\/(?:plain|x-component)|application\/(?:octet-stream|x-unknown))$/;

/** Formats that aren't text or always have the same charset. */
const UNTOUCHED: ReadonlySet<DocumentFormat> = new Set([
  ...(['other', 'json', 'yaml', 'hls', 'vtt', 'pagefind', 'next-tree'] as const),
]);

/** The format of a document, by its content type or, if that is vague, by its URL. */
export function documentFormat(contentType: string, url: string): DocumentFormat {
  const type = mediaType(contentType);
  const path = url.split(/[?#]/)[0] ?? '';
  const byExtension = FORMAT_BY_EXTENSION.get(/\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '');
  const known = FORMATS.find(([pattern]) => pattern.test(type));
  if (known !== undefined) return known[1] === 'xml' && byExtension === 'dash' ? 'dash' : known[1];
  const isJson = JSON_TYPE.test(type);
  if (!isJson && !VAGUE.test(type)) return 'other';
  if (isPagefind(path)) return 'pagefind';
  if (isNextTree(path)) return 'next-tree';
  if (isJson && /manifest\.json$/.test(path)) return 'manifest';
  // A source map names files that aren't on the site.
  if (path.endsWith('.map')) return 'other';
  return byExtension ?? (isJson ? 'json' : 'other');
}

/** Larger JSON is not inspected for its format. */
const MAX_SNIFFED_BYTES = 4 * 1024 * 1024;

/** Detects manifests and feeds that are served as plain JSON. */
function jsonFormat(bytes: Uint8Array): DocumentFormat {
  if (bytes.length > MAX_SNIFFED_BYTES) return 'json';
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (text.subarray(0, 1024).includes('jsonfeed.org/version')) return 'feed';
  const isManifest = text.includes('"icons"') && (text.includes('"start_url"') || text.includes('"display"'));
  return isManifest && bytes.length < 64 * 1024 ? 'manifest' : 'json';
}

/**
 * Prepares a fetched document: detects its format and converts it to UTF-8, because a file in the bundle has no charset
 * header. Bytes that are UTF-8 already or not text are returned as is.
 */
export function readDocument(fetched: FetchedDocument): PageDocument {
  const { bytes, contentType, url } = fetched;
  const named = documentFormat(contentType, url);
  const format = named === 'json' ? jsonFormat(bytes) : named;
  if (UNTOUCHED.has(format)) return { url, bytes, contentType, format };
  const decodedFrom = charsetOf(fetched, format);
  const charset = legacyCharset(decodedFrom);
  const transcoded = toUtf8(bytes, decodedFrom, format);
  if (transcoded === bytes && charset === undefined) return { url, bytes, contentType, format };
  return { url, format, bytes: transcoded, contentType: `${mediaType(contentType)}; charset=utf-8`, charset };
}
