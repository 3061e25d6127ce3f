import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import type { DocumentFormat } from './types.ts';

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
};

/**
 * Converts a document to UTF-8 and updates its declarations, because a file in the bundle has no charset header. The
 * charset is chosen in browser order: byte order mark, header, declaration, then UTF-8 if valid, else windows-1252.
 * UTF-8 text without a conflicting declaration is returned as is.
 */
export function toUtf8(bytes: Uint8Array, contentType: string, format: DocumentFormat): Uint8Array {
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
