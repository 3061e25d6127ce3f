/** The validators of a response (RFC 9110, 8.8), for conditional requests; null if there are none. */
export type Validators = { etag: string | null; lastModified: string | null };

export const NO_VALIDATORS: Validators = { etag: null, lastModified: null };

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const MAX_LENGTH = 1_000;
/** Dates have a resolution of one second: a resource may change again within the second of its response. */
const MIN_AGE_MS = 1_000;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function textOf(headers: Headers, name: string): string {
  const value = headers[name];
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value.trim() : '';
}

/**
 * The validators of a response that can be trusted. A `Last-Modified` counts only if that second had passed on the
 * origin's own clock (RFC 9110, 8.8.2.2), an `ETag` only if its syntax is valid.
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

/** The headers of a conditional request: names and values in turn. The origin sends the body only if it has changed. */
export function conditionalHeaders({ etag, lastModified }: Validators): string[] {
  const headers: string[] = [];
  if (etag !== null) headers.push('if-none-match', etag);
  if (lastModified !== null) headers.push('if-modified-since', lastModified);
  return headers;
}
