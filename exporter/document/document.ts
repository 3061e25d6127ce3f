import { mediaType } from '../urls/assign-path.ts';
import { charsetOf, legacyCharset, toUtf8 } from './charset.ts';
import { isNextTree } from './frameworks/next.ts';
import { isPagefind } from './frameworks/pagefind.ts';
import { gunzippedHead } from './gzip.ts';
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
  [/^text\/(?:x-)?markdown$/, 'markdown'],
  [/^(?:text|application)\/xml$|\+xml$/, 'xml'],
  [/^(?:text|application)\/(?:[\w.-]+[+.])?(?:x-)?ya?ml$|^application\/vnd\.oai\.openapi$/, 'yaml'],
];
const JSON_TYPE = /^(?:text|application|model)\/(?:[\w.-]+\+)?json$/;

/**
 * The format by file extension, for servers that send no useful content type. Browsers show a page with such a type as
 * text, or save it.
 */
const FORMAT_BY_EXTENSION: ReadonlyMap<string, DocumentFormat> = new Map([
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
  ['md', 'markdown'],
]);
const VAGUE = /^(?:|text\/(?:plain|x-component)|application\/(?:octet-stream|x-unknown))$/;

const FIELDS = /\/(?:robots|security)\.txt$/;
/** Lists pages in Markdown (llmstxt.org). */
export const LLMS_INDEX = /\/llms\.txt$/;
const LLMS = /\/llms(?:-[\w-]+)?\.txt$/;

/** Formats that aren't text or always have the same charset. */
const UNTOUCHED: ReadonlySet<DocumentFormat> = new Set([
  ...(['other', 'json', 'yaml', 'hls', 'vtt', 'fields', 'urls', 'markdown', 'pagefind', 'next-tree'] as const),
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
  if (FIELDS.test(path)) return 'fields';
  if (LLMS.test(path)) return 'markdown';
  if (isJson && /manifest\.json$/.test(path)) return 'manifest';
  // A source map names files that aren't on the site.
  if (path.endsWith('.map')) return 'other';
  return byExtension ?? (isJson ? 'json' : 'other');
}

/** A longer list is none that a program reads. */
const MAX_LIST_BYTES = 50 * 1024 * 1024;
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

const SITEMAP_XML = /^(?:\xef\xbb\xbf)?\s*<(?:\?xml\b[^>]*>\s*<)?(?:!--[^>]*>\s*<)*(?:\w+:)?(?:urlset|sitemapindex)\b/;
const URL_LINE = /^(?:\xef\xbb\xbf)?https?:\/\/[^\s<>]+\s*$/;

/** Detects sitemaps by their content: lists of URLs, and what is compressed. */
function sitemapFormat(bytes: Uint8Array, contentType: string): Pick<PageDocument, 'format' | 'gzip'> {
  const head = gunzippedHead(bytes);
  if (SITEMAP_XML.test(head)) return { format: 'xml', gzip: true };
  if (URL_LINE.test(head.split('\n', 1)[0] ?? '')) return { format: 'urls', gzip: true };
  const isText = /^(?:|text\/plain)$/.test(mediaType(contentType)) && bytes.length <= MAX_LIST_BYTES;
  return { format: isText && isUrlList(bytes) ? 'urls' : 'other' };
}

function isUrlList(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isUrl = (line: string): boolean => line.trim() === '' || URL_LINE.test(line);
  return (
    /^(?:\xef\xbb\xbf)?https?:/.test(text.toString('latin1', 0, 10)) && text.toString('latin1').split('\n').every(isUrl)
  );
}

/**
 * Prepares a fetched document: detects its format and converts it to UTF-8, because a file in the bundle has no charset
 * header. Bytes that are UTF-8 already or not text are returned as is.
 */
export function readDocument(fetched: FetchedDocument): PageDocument {
  const { bytes, contentType, url } = fetched;
  const named = documentFormat(contentType, url);
  const format = named === 'json' ? jsonFormat(bytes) : named;
  if (format === 'other') return { url, bytes, contentType, ...sitemapFormat(bytes, contentType) };
  if (UNTOUCHED.has(format)) return { url, bytes, contentType, format };
  const decodedFrom = charsetOf(fetched, format);
  const charset = legacyCharset(decodedFrom);
  const transcoded = toUtf8(bytes, decodedFrom, format);
  if (transcoded === bytes && charset === undefined) return { url, bytes, contentType, format };
  return { url, format, bytes: transcoded, contentType: `${mediaType(contentType)}; charset=utf-8`, charset };
}
