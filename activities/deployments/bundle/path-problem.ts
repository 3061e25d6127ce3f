import { MANIFEST_PATH } from '../../../contract/bundle.ts';

/** Galley's own folder in an unpacked bundle. */
export const GALLEY_FOLDER = MANIFEST_PATH.slice(0, MANIFEST_PATH.indexOf('/'));

/** What is wrong with a path in a bundle; undefined if it stays in the folder and outside of `.galley`. */
export function pathProblem(path: string): string | undefined {
  if (/[\\\p{Cc}]/u.test(path)) return 'has a backslash or a control character';
  const segments = path.split('/');
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) return 'is not relative to the root';
  if (segments.some((segment) => Buffer.byteLength(segment) > 255)) return 'has a name of more than 255 bytes';
  return segments[0]?.toLowerCase() === GALLEY_FOLDER ? 'is reserved' : undefined;
}
