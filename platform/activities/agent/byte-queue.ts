/** Enough that blocks are few, and little enough that what a block still holds in vain doesn't matter. */
const BLOCK_BYTES = 64 * 1024;

/**
 * Bytes in their order, added at the end and dropped at the beginning. They are copied into large blocks: a program that
 * prints byte by byte would else make millions of objects of a log.
 */
export type ByteQueue = {
  push(bytes: Uint8Array): void;
  /** Drops that many bytes, or as many as there are. */
  dropFirst(sizeBytes: number): void;
  readonly sizeBytes: number;
  /** What is in it, in a few parts that the next change may change too. */
  parts(): Buffer[];
};

type Block = { bytes: Buffer; start: number; end: number };

export function createByteQueue(): ByteQueue {
  const blocks: Block[] = [];
  let sizeBytes = 0;

  function roomAtEnd(): Block {
    const last = blocks.at(-1);
    if (last !== undefined && last.end < BLOCK_BYTES) return last;
    const added = { bytes: Buffer.allocUnsafe(BLOCK_BYTES), start: 0, end: 0 };
    blocks.push(added);
    return added;
  }

  return {
    push(bytes) {
      for (let from = 0; from < bytes.length; ) {
        const block = roomAtEnd();
        const part = bytes.subarray(from, from + BLOCK_BYTES - block.end);
        block.bytes.set(part, block.end);
        block.end += part.length;
        from += part.length;
      }
      sizeBytes += bytes.length;
    },
    dropFirst(wanted) {
      let left = Math.min(wanted, sizeBytes);
      sizeBytes -= left;
      for (let [first] = blocks; first !== undefined && left > 0; [first] = blocks) {
        const cut = Math.min(left, first.end - first.start);
        first.start += cut;
        left -= cut;
        if (first.start === first.end) blocks.shift();
      }
    },
    get sizeBytes() {
      return sizeBytes;
    },
    parts: () => blocks.map(({ bytes, start, end }) => bytes.subarray(start, end)),
  };
}
