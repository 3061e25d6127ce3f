import { divideIntoPieces, type PieceLimits } from './pieces.ts';

function sizeOf(files: ReadonlyArray<{ byteLength: number }>): number {
  return files.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/**
 * Divides files, in the bundle's order, into batches of whole pieces: what one worker makes at a time. By paths and
 * sizes alone, so that the archive is the same however many workers make it. Returns each file's batch number.
 */
export function divideIntoBatches(
  files: ReadonlyArray<{ path: string; byteLength: number }>,
  limits: PieceLimits,
): number[] {
  const { batchFiles, batchBytes, maxBufferedBytes } = limits;
  const batches: number[] = [];
  let batch = 0;
  let count = 0;
  let bytes = 0;
  let isFull = false;
  for (const piece of divideIntoPieces(files, limits)) {
    const pieceBytes = sizeOf(piece);
    // It is streamed, and can't share an object with what is made in memory.
    const isStreamed = pieceBytes > maxBufferedBytes;
    const isTooMuch = count + piece.length > batchFiles || bytes + pieceBytes > batchBytes;
    if (count > 0 && (isFull || isStreamed || isTooMuch)) {
      batch += 1;
      count = 0;
      bytes = 0;
    }
    isFull = isStreamed;
    count += piece.length;
    bytes += pieceBytes;
    for (const _ of piece) batches.push(batch);
  }
  return batches;
}
