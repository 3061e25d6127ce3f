import { MANIFEST_PATH } from '../contract/bundle.ts';

/** Galley's own folder in a bundle. */
export const GALLEY_FOLDER = MANIFEST_PATH.slice(0, MANIFEST_PATH.indexOf('/'));

export const MAX_PATH_BYTES = 1024;
const MAX_SEGMENT_BYTES = 255;

const CONTROL_CHARACTER = /\p{Cc}/u;
const BEYOND_ASCII = /[^ -~]/;

/**
 * What is wrong with a path inside a bundle; undefined if it may be unpacked: relative, forward slashes, no empty, `.`
 * or `..` segment, nothing that another file system could read as an escape.
 */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'is absolute';
  if (path.includes('\\')) return 'holds a backslash';
  if (CONTROL_CHARACTER.test(path)) return 'holds a control character';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  for (const segment of path.split('/')) {
    if (segment === '') return 'holds an empty segment';
    if (segment === '.' || segment === '..') return `holds the segment "${segment}"`;
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) return `has a segment longer than ${MAX_SEGMENT_BYTES} bytes`;
  }
  return undefined;
}

/** The path on a file system that ignores case or composes characters: equal keys collide there. */
export function collisionKey(path: string): string {
  // Most paths are ASCII, and Unicode normalization is about ten times slower.
  return BEYOND_ASCII.test(path) ? path.normalize('NFC').toLowerCase().normalize('NFC') : path.toLowerCase();
}

/** Whether a path is in Galley's own folder, on every file system. */
export function isReserved(path: string): boolean {
  const key = collisionKey(path);
  return key === GALLEY_FOLDER || key.startsWith(`${GALLEY_FOLDER}/`);
}
