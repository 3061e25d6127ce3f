/** Large enough for few blocks, small enough that the unused rest of a block doesn't matter. */
const BLOCK_BYTES = 64 * 1024;

/**
 * A queue of bytes: append at the end, drop at the start. Bytes are copied into large blocks, because a program that
 * prints byte by byte would otherwise create millions of objects.
 */
type ByteQueue = {
  push(bytes: Uint8Array): void;
  /** Drops up to that many bytes. */
  dropFirst(sizeBytes: number): void;
  readonly sizeBytes: number;
  /** The content in a few parts. The next change may overwrite them. */
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
    dropFirst(count) {
      let left = Math.min(count, sizeBytes);
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
