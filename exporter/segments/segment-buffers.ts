/** A pool of large buffers, from some hundred kilobytes up. */
export type SegmentBuffers = {
  /** At least this long; the content is undefined. */
  take(byteLength: number): Buffer;
  /** Only when no one can read the buffer any more. Buffers that aren't given back are garbage-collected. */
  giveBack(buffer: Buffer): void;
};

/** Lengths are multiples of this, so that a buffer fits more often. */
const STEP_BYTES = 64 * 1024;
/** A buffer may be longer than requested by this share: the unused part costs less than a new buffer. */
const MAX_EXCESS = 1 / 4;

/**
 * Keeps a few idle buffers. Segments live long enough to be collected late, so without the pool a crawl would hold
 * about a hundred megabytes of garbage.
 */
export function createSegmentBuffers({ maxIdleBytes }: { maxIdleBytes: number }): SegmentBuffers {
  const idle: Buffer[] = [];
  let idleBytes = 0;

  function remove(index: number): Buffer | undefined {
    const [buffer] = idle.splice(index, 1);
    idleBytes -= buffer?.length ?? 0;
    return buffer;
  }

  return {
    take(byteLength) {
      const most = byteLength * (1 + MAX_EXCESS) + STEP_BYTES;
      const fitting = idle.findIndex(({ length }) => length >= byteLength && length <= most);
      const known = fitting === -1 ? undefined : remove(fitting);
      return known ?? Buffer.allocUnsafeSlow(Math.ceil(byteLength / STEP_BYTES) * STEP_BYTES);
    },
    giveBack(buffer) {
      idle.push(buffer);
      idleBytes += buffer.length;
      while (idleBytes > maxIdleBytes) remove(0);
    },
  };
}
