/** Headers of the files of an exported site, wherever it is served. */

/** They don't change how an exported site works, but for being framed by another site. */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Permitted-Cross-Domain-Policies': 'none',
} as const;

/** The part between the last `.`, `-` or `_` and the extension (`.lean.js` and `.min.css` count as one). */
const TOKEN = /[.\-_]([A-Za-z0-9]{8,64}|[A-Za-z0-9_-]{8})(?:\.(?:lean|min|chunk|module))?\.[a-z0-9]{2,5}$/;

/** Whether a name clearly contains a content hash: hex, or letters of both cases and digits; not a date or a word. */
export function isHashed(path: string): boolean {
  const token = TOKEN.exec(path)?.[1];
  if (token === undefined || !/\d/.test(token)) return false;
  return /^[0-9a-f]*[a-f][0-9a-f]*$/.test(token) || (/[a-z]/.test(token) && /[A-Z]/.test(token));
}

/** The `Cache-Control` of hashed files: they are cached for a week. */
export const HASHED_CACHE_CONTROL = 'max-age=604800, immutable';

/**
 * Pages and all files without a hash in their name are revalidated each time (304 by their ETag). Hashed assets are
 * cached for a week instead of the usual year: the export rewrote links inside them, so a later export may change such
 * a file's bytes under its old name.
 * @param isPrivate visitors sign in, so a cache that several of them share must keep nothing (RFC 9111, 3.5)
 */
export function cacheControl(path: string, isPrivate = false): string {
  const control = isHashed(path) ? HASHED_CACHE_CONTROL : 'no-cache';
  return isPrivate ? `private, ${control}` : control;
}
