/** Memory of some hundred kilobytes or more that is used again and again. */
export type SegmentBuffers = {
  /** At least this long; what it holds is not defined. */
  take(byteLength: number): Buffer;
  /** Only where nobody can read it any more. What is never given back goes the way of all objects. */
  giveBack(buffer: Buffer): void;
};

/** Lengths are whole multiples of this, so that a buffer fits more often. */
const STEP_BYTES = 64 * 1024;
/** A buffer may be longer than asked for by this share: memory lies idle in it, but less than in a new one. */
const MAX_EXCESS = 1 / 4;

/**
 * Keeps a few buffers at hand. What lives as long as a segment is old when it is dropped, and the old is collected late:
 * a crawl that makes such memory anew for each group has a hundred megabytes of it lying about.
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
