import { constants, gunzipSync, gzipSync } from 'node:zlib';

/** The protocol's limit for one sitemap, uncompressed (sitemaps.org). */
const MAX_BYTES = 50 * 1024 * 1024;
/** So few that their content is never large. */
const HEAD_BYTES = 1024;
/** The operating system's byte in the header: 255 is "unknown", so that all systems write the same. */
const OPERATING_SYSTEM_AT = 9;

/** The first characters of compressed text, as latin1; empty if the bytes aren't compressed with gzip. */
export function gunzippedHead(bytes: Uint8Array): string {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return '';
  try {
    return gunzipSync(bytes.subarray(0, HEAD_BYTES), { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
  } catch {
    return '';
  }
}

/** Throws if the bytes aren't valid gzip, or hold too much. */
export function gunzip(bytes: Uint8Array): Buffer {
  return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
}

/** Equal bytes give equal results in one version of Node. */
export function gzip(bytes: Uint8Array): Buffer {
  const compressed = gzipSync(bytes);
  compressed[OPERATING_SYSTEM_AT] = 255;
  return compressed;
}
