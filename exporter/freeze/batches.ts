import { divideIntoPieces, type PieceLimits } from './pieces.ts';

function sizeOf(files: ReadonlyArray<{ byteLength: number }>): number {
  return files.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/**
 * Divides files, in the bundle's order, into batches of whole pieces, one worker's unit of work. Uses only paths and
 * sizes, so the archive is the same whatever the number of workers. Returns each file's batch number.
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
    // A streamed file can't share an object with pieces made in memory.
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
