/** A replacement of the bytes from `start` to `end` (exclusive) by `text`, which is ASCII. */
export type Splice = { start: number; end: number; text: string };

/**
 * Applies all splices in one pass. A splice inside another is dropped, because the outer one replaces its bytes.
 * Insertions at one offset keep their order.
 */
export function applySplices(bytes: Uint8Array, splices: readonly Splice[]): Uint8Array {
  if (splices.length === 0) return bytes;
  const ordered = withoutNested(splices);
  const size = ordered.reduce((sum, { start, end, text }) => sum + text.length - (end - start), bytes.length);
  const result = Buffer.allocUnsafe(size);
  let read = 0;
  let written = 0;
  for (const { start, end, text } of ordered) {
    result.set(bytes.subarray(read, start), written);
    written += start - read;
    written += result.write(text, written, 'latin1');
    read = end;
  }
  result.set(bytes.subarray(read), written);
  return result;
}

function withoutNested(splices: readonly Splice[]): Splice[] {
  const sorted = [...splices].sort((a, b) => a.start - b.start || Number(isInsertion(b)) - Number(isInsertion(a)));
  let end = 0;
  return sorted.filter((splice) => {
    if (splice.start < end) return false;
    end = splice.end;
    return true;
  });
}

function isInsertion({ start, end }: Splice): boolean {
  return start === end;
}
