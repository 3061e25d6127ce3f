import { TokenType, tokenizer } from '@csstools/css-tokenizer';
import type { Collector } from '../collector.ts';
import { extractSourceMap } from '../javascript/source-map.ts';
import { encodeBytes, type SpannedText } from '../spanned-text.ts';

/** Names may be written with escapes. */
const MAY_REFER = /url\(|@import|image-set\(|src\(|\\/i;
/** Functions whose strings are URLs; in others (`format()`, `type()`, `local()`) they are names. */
const URL_FUNCTIONS = new Set(['url', 'src', 'image-set', '-webkit-image-set', 'image', 'cross-fade']);
const ESCAPE = /\\(?:([0-9a-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[\s\S]))|\0/gi;
const REPLACEMENT = encodeBytes('\ufffd');
const SPACE = /[ \t\r\n\f]/;
const VAR = /\bvar\([ \t\r\n\f]{0,20}(--[^\s,)/]+)/gi;

/**
 * Reads a stylesheet, or the declarations of a style attribute: `url()` in every spelling, `@import`, `image-set()`.
 * `layers` says how the CSS itself is escaped in its document.
 */
export function extractCss(css: SpannedText, layers: string, collector: Collector): void {
  const { text } = css;
  extractSourceMap(css, layers, collector);
  if (!MAY_REFER.test(text)) return;
  let atRule = '';
  let lastName = '';
  let property = '';
  let used: Set<string> | undefined;
  const functions: string[] = [];

  const refer = (from: number, to: number, layer: string): void => {
    const raw = text.slice(from, to);
    const decoded = /[\\\0]/.test(raw) ? unescapeCss(raw) : undefined;
    const place = { span: css, from, to, layers: layer + layers };
    if (property !== '') {
      used ??= usedProperties(text);
      collector.referInProperty(place, used.has(property), decoded);
    } else {
      const resource = collector.refer(place, 'asset', decoded);
      if (atRule === 'import') {
        collector.giveCharset(resource);
        collector.addStylesheet(resource);
      }
    }
  };

  // The standard replaces NUL first. Here any character beyond ASCII of the same length does.
  const tokens = tokenizer({ css: text.replaceAll('\0', '\xff') });
  while (!tokens.endOfFile()) {
    const [type, raw, start, last, data] = tokens.nextToken();
    const end = last + 1;
    switch (type) {
      case TokenType.Ident:
        lastName = raw;
        break;
      case TokenType.Colon:
        if (property === '' && lastName.startsWith('--') && functions.length === 0) property = lastName;
        break;
      case TokenType.AtKeyword:
        atRule = data.value.toLowerCase();
        break;
      case TokenType.Semicolon:
      case TokenType.OpenCurly:
      case TokenType.CloseCurly:
        atRule = '';
        lastName = '';
        property = '';
        functions.length = 0;
        break;
      case TokenType.Function:
        functions.push(data.value.toLowerCase());
        break;
      case TokenType.OpenParen:
        functions.push('(');
        break;
      case TokenType.CloseParen:
        functions.pop();
        break;
      case TokenType.URL:
        if (atRule !== 'namespace') refer(urlStart(text, start), urlEnd(text, start, end), 'u');
        break;
      case TokenType.String:
        if (isUrl(atRule, functions.at(-1))) refer(start + 1, stringEnd(text, start, end), layerOf(text, start));
        break;
    }
  }
}

function isUrl(atRule: string, inside: string | undefined): boolean {
  if (atRule === 'namespace') return false;
  return inside === undefined ? atRule === 'import' : URL_FUNCTIONS.has(inside);
}

/** The custom properties that a stylesheet uses. */
function usedProperties(text: string): Set<string> {
  return new Set([...text.matchAll(VAR)].map(([, name = '']) => name));
}

function layerOf(text: string, quoteAt: number): 'd' | 's' {
  return text[quoteAt] === '"' ? 'd' : 's';
}

/** A string cut off by the end of the stylesheet has no closing quote. */
function stringEnd(text: string, start: number, end: number): number {
  return end - start > 1 && text[end - 1] === text[start] ? end - 1 : end;
}

function urlStart(text: string, start: number): number {
  let index = text.indexOf('(', start) + 1;
  while (SPACE.test(text.charAt(index))) index += 1;
  return index;
}

function urlEnd(text: string, start: number, end: number): number {
  let index = text[end - 1] === ')' ? end - 1 : end;
  while (index > start && SPACE.test(text.charAt(index - 1))) index -= 1;
  return index;
}

/** Decodes CSS escapes to UTF-8 bytes; an escaped line end is dropped, and NUL is U+FFFD. */
function unescapeCss(text: string): string {
  return text.replace(ESCAPE, (found, hex: string | undefined, character = found) => {
    if (hex === undefined) return /[\r\n\f]/.test(character) ? '' : character.replace('\0', REPLACEMENT);
    const codePoint = Number.parseInt(hex, 16);
    return codePoint === 0 || codePoint > 0x10ffff ? REPLACEMENT : encodeBytes(String.fromCodePoint(codePoint));
  });
}

/** SVG presentation attributes that may refer to a paint, filter or cursor in another file, as CSS does. */
export const PAINTS: ReadonlySet<string> = new Set([
  ...['fill', 'stroke', 'filter', 'mask', 'clip-path', 'cursor'],
  ...['marker-start', 'marker-mid', 'marker-end'],
]);
