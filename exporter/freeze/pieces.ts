import type { ExportLimits } from '../limits.ts';

export type PieceLimits = Pick<ExportLimits, 'pieceBytes' | 'batchFiles' | 'batchBytes' | 'maxBufferedBytes'>;

const TAR_BLOCK_BYTES = 512;
const UINT32 = 2 ** 32;

/**
 * Hashes a text to a number from 0 to 1, the same on every machine: FNV-1a, then the last mixing step of MurmurHash3.
 */
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / UINT32;
}

/**
 * Cuts files, in the bundle's order, into pieces of about `pieceBytes`, each a gzip member of its own. Whether a piece
 * ends after a file depends only on the file's path and size, so that an added, changed or removed file moves only its
 * own cut and all other pieces can be reused. Large files are pieces of their own. A batch's limits also apply to a
 * piece, but few pieces reach them.
 */
export function divideIntoPieces<File extends { path: string; byteLength: number }>(
  files: readonly File[],
  { pieceBytes, batchFiles, batchBytes, maxBufferedBytes }: PieceLimits,
): File[][] {
  const aloneBytes = Math.min(pieceBytes, maxBufferedBytes);
  const pieces: File[][] = [];
  let piece: File[] = [];
  let bytes = 0;
  const cut = (): void => {
    if (piece.length > 0) pieces.push(piece);
    piece = [];
    bytes = 0;
  };
  for (const file of files) {
    const { path, byteLength } = file;
    const isAlone = byteLength > aloneBytes;
    if (isAlone || piece.length >= batchFiles || bytes + byteLength > batchBytes) cut();
    piece.push(file);
    bytes += byteLength;
    const share = (byteLength + 2 * TAR_BLOCK_BYTES) / pieceBytes;
    if (isAlone || unitHash(path) < share) cut();
  }
  cut();
  return pieces;
}
