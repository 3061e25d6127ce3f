import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { mediaType } from '../urls/assign-path.ts';
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
 * Prepares a fetched document: detects its format and converts it to UTF-8, with its declarations and content type.
 * Bytes that are UTF-8 already or not text are returned as is.
 */
export function readDocument(fetched: FetchedDocument): PageDocument {
  const { bytes, contentType, url } = fetched;
  const named = documentFormat(contentType, url);
  const format = named === 'json' ? jsonFormat(bytes) : named;
  if (UNTOUCHED.has(format)) return { ...fetched, format };
  const transcoded = toUtf8(bytes, contentType, format);
  if (transcoded === bytes) return { ...fetched, format };
  return { url, format, bytes: transcoded, contentType: `${mediaType(contentType)}; charset=utf-8` };
}

/** Browsers look for a charset declaration in this many bytes. */
const PRESCAN_BYTES = 1024;
const HEADER = /;\s*charset\s*=\s*["']?([^\s;"']+)/i;

const XML_DECLARATION = /^(\s*<\?xml\b[^>]*?\bencoding\s*=\s*["'])([\w:.-]+)/;
/**
 * How each format declares its charset; the label is the second group. XHTML may have two declarations. Repetitions
 * are bounded and stop at the next tag, so that hostile documents stay linear to scan.
 */
const DECLARATIONS: Readonly<Partial<Record<DocumentFormat, readonly RegExp[]>>> = {
  html: [/(<meta\b[^<>]{0,2000}?\bcharset\s{0,100}=\s{0,100}["']?\s{0,100})([\w:.-]+)/i, XML_DECLARATION],
  css: [/^(@charset ")([^"]+)/],
  svg: [XML_DECLARATION],
  xml: [XML_DECLARATION],
  dash: [XML_DECLARATION],
};

/**
 * Converts a document to UTF-8 and updates its declarations, because a file in the bundle has no charset header. The
 * charset is chosen in browser order: byte order mark, header, declaration, then UTF-8 if valid, else windows-1252.
 * UTF-8 text without a conflicting declaration is returned as is.
 */
function toUtf8(bytes: Uint8Array, contentType: string, format: DocumentFormat): Uint8Array {
  const mark = byteOrderMark(bytes);
  if (mark === 'utf-8' || (mark === undefined && isAscii(bytes))) return bytes;
  const declared = mark ?? HEADER.exec(contentType)?.[1] ?? declaredLabel(bytes, format);
  const decoder = decoderFor(declared ?? (isUtf8(bytes) ? 'utf-8' : 'windows-1252'));
  if (decoder === undefined) return bytes;
  if (decoder.encoding === 'utf-8') return saysOtherwise(bytes, format) ? declaredUtf8(bytes, format) : bytes;
  const text = decoder.encoding === 'windows-1252' ? decodeWindows1252(bytes) : decoder.decode(bytes);
  return Buffer.from(withDeclarations(text, format), 'utf8');
}

function withDeclarations(text: string, format: DocumentFormat): string {
  return (DECLARATIONS[format] ?? []).reduce((before, declaration) => before.replace(declaration, '$1utf-8'), text);
}

/** Whether the document itself declares a charset other than UTF-8. */
function saysOtherwise(bytes: Uint8Array, format: DocumentFormat): boolean {
  const label = declaredLabel(bytes, format);
  return label !== undefined && !/^utf-?8$/i.test(label);
}

/** Changes the declarations only, and keeps bytes that aren't valid UTF-8. */
function declaredUtf8(bytes: Uint8Array, format: DocumentFormat): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return Buffer.from(withDeclarations(text, format), 'latin1');
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function declaredLabel(bytes: Uint8Array, format: DocumentFormat): string | undefined {
  const head = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1');
  const [label] = (DECLARATIONS[format] ?? []).flatMap((declaration) => declaration.exec(head)?.[2] ?? []);
  // A declaration that reads as ASCII can't be in UTF-16.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

/** The characters for bytes 0x80 to 0x9f, which are control codes in Latin-1. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Some Node releases decode windows-1252 as Latin-1, which breaks curly quotes. */
function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(/[\x80-\x9f]/g, (character) => WINDOWS_1252.charAt(character.charCodeAt(0) - 0x80));
}

/** Undefined for an unknown charset; the bytes then stay unchanged. */
function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
