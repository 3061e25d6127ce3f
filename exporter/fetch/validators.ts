/** What an origin says of an answer so that it needn't be sent again (RFC 9110, 8.8); null where it says nothing. */
export type Validators = { etag: string | null; lastModified: string | null };

export const NO_VALIDATORS: Validators = { etag: null, lastModified: null };

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const MAX_LENGTH = 1_000;
/** A date alone tells of changes by the second: what was written in the second of the answer may change in it again. */
const MIN_AGE_MS = 1_000;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function textOf(headers: Headers, name: string): string {
  const value = headers[name];
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value.trim() : '';
}

/**
 * The validators of an answer that may be trusted. A `Last-Modified` counts only where the origin's own clock had left
 * that second behind when it answered (RFC 9110, 8.8.2.2), and an `ETag` only in the form that the RFC gives it.
 */
export function readValidators(headers: Headers): Validators {
  const etag = textOf(headers, 'etag');
  const lastModified = textOf(headers, 'last-modified');
  const ageMs = Date.parse(textOf(headers, 'date')) - Date.parse(lastModified);
  return {
    etag: ENTITY_TAG.test(etag) ? etag : null,
    lastModified: ageMs >= MIN_AGE_MS ? lastModified : null,
  };
}

/**
 * The request's headers that ask for the body only where it is another than the one the validators came with: names and
 * values in turn.
 */
export function conditionalHeaders({ etag, lastModified }: Validators): string[] {
  const headers: string[] = [];
  if (etag !== null) headers.push('if-none-match', etag);
  if (lastModified !== null) headers.push('if-modified-since', lastModified);
  return headers;
}
