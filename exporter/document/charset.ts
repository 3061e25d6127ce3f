import { isAscii, isUtf8 } from 'node:buffer';
import { getBOMEncoding, legacyHookDecode, normalizeEncoding } from '@exodus/bytes/encoding.js';
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js';
import { scanHtml } from './html/scan-html.ts';
import type { Tag } from './html/scan-markup.ts';
import type { DocumentFormat, FetchedDocument } from './types.ts';

/** Names of the Encoding standard, in lower case. */
const UTF_8 = 'utf-8';
const isUtf16 = (name: string): boolean => name === 'utf-16le' || name === 'utf-16be';

const HEADER = /;\s*charset\s*=\s*(?:"([^"]*)|([^\s;]+))/i;
/** Browsers look for a declaration in this many bytes of a page, and behind them up to the end of its head. */
const PRESCAN_BYTES = 1024;

const XML_DECLARATION = /^(\s*<\?xml\b[^>]*?\bencoding\s*=\s*["'])([\w:.-]+)/;
const XML: ReadonlySet<DocumentFormat> = new Set(['svg', 'xml', 'dash']);
/** How a format other than HTML declares its charset; the label is the second group. */
const DECLARATIONS: Readonly<Partial<Record<DocumentFormat, RegExp>>> = {
  html: XML_DECLARATION,
  css: /^(@charset ")([^"]{1,100})(?=";)/,
  svg: XML_DECLARATION,
  xml: XML_DECLARATION,
  dash: XML_DECLARATION,
};

/**
 * The charset that a browser decodes a text with: of its byte order mark, else of its header, its own declaration, or the
 * document that loads it (`inherited`). If nothing declares one, it is UTF-8 if the bytes are valid in it, else
 * windows-1252. Scripts that are modules have no other than UTF-8, and so has JSON.
 */
export function charsetOf({ bytes, contentType, inherited }: FetchedDocument, format: DocumentFormat): string {
  const mark = getBOMEncoding(bytes);
  if (mark !== null) return mark;
  if (format === 'manifest' || format === 'feed') return UTF_8;
  const [, quoted, token] = HEADER.exec(contentType) ?? [];
  const ofHeader = normalizeEncoding(quoted ?? token ?? '');
  if (ofHeader !== null) return ofHeader;
  const isXml = XML.has(format) || /xml/i.test(contentType);
  return declared(bytes, format, isXml) ?? inherited ?? (isXml || isUtf8(bytes) ? UTF_8 : 'windows-1252');
}

function declared(bytes: Uint8Array, format: DocumentFormat, isXml: boolean): string | undefined {
  const head = latin1(bytes.subarray(0, PRESCAN_BYTES));
  if (head.startsWith('<\0?\0x\0')) return 'utf-16le';
  if (head.startsWith('\0<\0?\0x')) return 'utf-16be';
  const ofPage = format === 'html' && !isXml ? declaredInPage(head, bytes) : undefined;
  return ofPage ?? asciiCompatible(DECLARATIONS[format]?.exec(head)?.[2]);
}

/** The usual declarations of UTF-8. Scanning for them would take a tenth of the time that reading a page takes. */
const USUAL =
  /<meta\s+(?:charset=["']?utf-8["'\s/>]|http-equiv=["']?content-type["']?\s+content=["']text\/html;\s*charset=utf-8["'])/i;
/** What may hide a declaration, or come before it. */
const UNUSUAL = /charset|<!--|<(?:script|style|title|noscript|iframe|template|svg)/i;

function declaredInPage(head: string, bytes: Uint8Array): string | undefined {
  const at = head.search(USUAL);
  if (at >= 0 && !UNUSUAL.test(head.slice(0, at))) return UTF_8;
  const inHead = /charset/i.test(head) ? firstDeclared(head) : undefined;
  // An ASCII page reads the same in most charsets.
  return inHead ?? (bytes.length > PRESCAN_BYTES && !isAscii(bytes) ? firstDeclared(latin1(bytes)) : undefined);
}

function firstDeclared(source: string): string | undefined {
  let isHead = true;
  let first: string | undefined;
  scanHtml(source, (name) => META.has(name), {
    tag(tag) {
      isHead &&= mayBeInHead(tag.name);
      if (isLookedAt(tag, isHead)) first ??= asciiCompatible(declaredLabel(tag)?.text);
    },
    raw: () => undefined,
    close: () => undefined,
  });
  return first;
}

/** The charset of a label in a text that reads as ASCII, by the standard's rules for `<meta>`. */
function asciiCompatible(label: string | undefined): string | undefined {
  const name = label === undefined ? null : normalizeEncoding(label);
  if (name === null) return undefined;
  return isUtf16(name) ? UTF_8 : name === 'x-user-defined' ? 'windows-1252' : name;
}

const HEAD = new Set(['html', 'head', 'meta', 'title', 'base', 'link', 'style', 'script', 'noscript', 'object']);

/** Whether the head of a page may go on behind a tag. */
export function mayBeInHead(name: string): boolean {
  return HEAD.has(name);
}

/** Whether a browser looks for a declaration in a `<meta>`. */
export function isLookedAt({ start }: Tag, isInHead: boolean): boolean {
  return isInHead || start < PRESCAN_BYTES;
}

const META: ReadonlySet<string> = new Set(['charset', 'http-equiv', 'content']);
const LABEL = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))/di;

/** The label that a `<meta>` declares as the page's charset, and where it is in the attribute's value. */
export function declaredLabel({ name, attributes }: Tag) {
  if (name !== 'meta') return undefined;
  const attribute = attributes.find((each) => each.name === 'charset');
  if (attribute !== undefined) return { attribute, text: attribute.value.text, from: 0 };
  const pragma = attributes.find((each) => each.name === 'http-equiv')?.value.text ?? '';
  const content = attributes.find((each) => each.name === 'content');
  if (content === undefined || !/^content-type$/i.test(pragma)) return undefined;
  const found = LABEL.exec(content.value.text);
  const index = [1, 2, 3].find((group) => found?.[group] !== undefined) ?? 0;
  const [from] = found?.indices?.[index] ?? [0];
  return found === null ? undefined : { attribute: content, text: found[index] ?? '', from };
}

/** The charset of the `charset` attribute of an element that loads a text; undefined if it names none. */
export function charsetOfLabel(label: string): string | undefined {
  return normalizeEncoding(label) ?? undefined;
}

/**
 * A text in UTF-8, with the declarations at its start. Bytes that are UTF-8 already stay as they are. The declarations of a
 * page are changed with its links.
 */
export function toUtf8(bytes: Uint8Array, charset: string, format: DocumentFormat): Uint8Array {
  const isStateful = isUtf16(charset) || charset === 'iso-2022-jp' || charset === 'replacement';
  const isSame = charset === UTF_8 || (!isStateful && isAscii(bytes));
  const text = isSame ? bytes : Buffer.from(legacyHookDecode(bytes, charset), 'utf8');
  const [, before, label] = DECLARATIONS[format]?.exec(latin1(text.subarray(0, PRESCAN_BYTES))) ?? [];
  if (before === undefined || label === undefined || /^utf-?8$/i.test(label)) return text;
  return Buffer.concat([Buffer.from(`${before}utf-8`, 'latin1'), text.subarray(before.length + label.length)]);
}

export function legacyCharset(charset: string): string | undefined {
  return charset === UTF_8 ? undefined : charset;
}

const SPECIAL_QUERY = ` "#'<>`;

/** A URL with its query encoded in the charset of its document. */
export function withEncodedQuery(url: string, charset: string | undefined): string {
  if (charset === undefined || isUtf16(charset) || charset === 'replacement') return url;
  const [, before = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(.*)$/s.exec(url) ?? [];
  if (/^[\0-\x7f]*$/.test(query)) return url;
  return before + percentEncodeAfterEncoding(charset, query.replace(/[\t\n\r]/g, ''), SPECIAL_QUERY) + fragment;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
