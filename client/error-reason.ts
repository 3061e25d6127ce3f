import type { AdminApiResponse } from './send-request.ts';

/** Longest quoted text. */
const MAX_CHARACTERS = 300;

/** An error may be its own cause. */
const MAX_CAUSES = 5;

/** The error message of a response. Any body is accepted; HTML is named as such, never quoted. */
export function errorReason({ body, text, contentType }: AdminApiResponse): string {
  const said = textProperty(body, 'error') ?? textProperty(body, 'message');
  if (said !== undefined) return said.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, MAX_CHARACTERS);
  if (text.trim() === '') return 'an empty body';
  if (/html/i.test(contentType) || isMarkup(text)) return 'an HTML page instead of JSON';
  return body === undefined ? 'a body that is not JSON' : 'JSON without an error message';
}

/** Why a 2xx can't be used. */
export function unreadableReason(name: string, { text }: AdminApiResponse): string {
  const kind = isMarkup(text) ? 'an HTML page' : text.trim() === '' ? 'an empty body' : 'an unreadable or cut body';
  return `the response has no usable "${name}" (${kind})`;
}

/** Why there was no response: the message and code of the innermost cause, because `fetch` says only "fetch failed". */
export function faultReason(fault: unknown): string {
  let innermost = fault;
  for (let depth = 0; depth < MAX_CAUSES; depth++) innermost = property(innermost, 'cause') ?? innermost;
  const message = textProperty(innermost, 'message') ?? textProperty(fault, 'message') ?? 'the connection failed';
  const code = textProperty(innermost, 'code');
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}

function isMarkup(text: string): boolean {
  return /^\s*</.test(text);
}

function textProperty(value: unknown, name: string): string | undefined {
  const found = property(value, name);
  const text = typeof found === 'number' ? String(found) : found;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

/** Read by shape: an error of another realm (a VM, a worker) is no instance of this one's Error. */
function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
