import { computedMIMEType, MIMEType } from 'whatwg-mimetype';
import { isContentType } from '../../bundle/manifest.ts';
import { type Headers, linesOf } from './fetch-result.ts';

/** One declared type that browsers don't check against the bytes, as most responses have. */
const TRUSTED = /^(?!image\/|text\/plain\b|[^/]*\/?unknown\b)[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(?:;[^,]*)?$/i;

/**
 * The content type of a response as a browser finds it (MIME Sniffing and Fetch Standards): of several headers the last
 * valid one; of none, or a wrong one for an image or text, what the bytes are. Sounds and films keep the declared type,
 * because their formats have more names than signatures.
 * @param start at least the first bytes of the body, decoded
 */
export function contentTypeOf(headers: Headers, start: Uint8Array): string {
  const lines = linesOf(headers, 'content-type');
  const [only = ''] = lines;
  if (lines.length === 1 && TRUSTED.test(only) && isContentType(only)) return only;
  const declared = lines.length === 1 && !only.includes(',') ? only : extracted(lines);
  const found = computedMIMEType(start, {
    ...(declared !== undefined && { contentTypeHeader: declared }),
    noSniff: linesOf(headers, 'x-content-type-options')[0]?.split(',')[0]?.trim().toLowerCase() === 'nosniff',
    isSupported: ({ type }) => type === 'image',
  });
  const isAsDeclared = declared !== undefined && MIMEType.parse(declared)?.essence === found.essence;
  const text = isAsDeclared ? declared.trim() : found.toString();
  return isContentType(text) ? text : found.essence;
}

/** The Fetch Standard's "extract a MIME type": the last valid type, with the charset of an equal one before it. */
function extracted(lines: readonly string[]): string | undefined {
  let type: MIMEType | undefined;
  for (const text of lines.flatMap(splitAtCommas)) {
    const next = MIMEType.parse(text);
    if (next === null || next.essence === '*/*') continue;
    const charset = next.essence === type?.essence ? type.parameters.get('charset') : undefined;
    if (charset !== undefined && !next.parameters.has('charset')) next.parameters.set('charset', charset);
    type = next;
  }
  return type?.toString();
}

/** Commas in quoted strings don't separate. */
function splitAtCommas(line: string): string[] {
  return line.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [];
}

/**
 * Whether a browser saves the response instead of showing it. As in browsers, an unknown disposition is `attachment`,
 * and a header that begins with a parameter has none.
 */
export function isAttachment(headers: Headers): boolean {
  const [type = ''] = (linesOf(headers, 'content-disposition')[0] ?? '').split(';');
  return type.trim() !== '' && !type.includes('=') && type.trim().toLowerCase() !== 'inline';
}
