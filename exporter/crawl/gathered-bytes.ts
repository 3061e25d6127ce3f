import type { SegmentBuffers } from '../segments/segment-store.ts';
import { isUnplaced, type Visited } from './visited.ts';

export type GatheredBytes = {
  /** Copies the result's bytes into our buffers, so that its own memory is free at once. */
  keep(visited: Visited): Visited;
  /** Releases the buffers, once the kept bytes are no longer needed. */
  giveBack(): void;
};

const BUFFER_BYTES = 1024 * 1024;

/** Holds the bytes of results that wait for their group in a few reusable buffers. Larger results aren't copied. */
export function gatherBytes(buffers: SegmentBuffers): GatheredBytes {
  const used: Buffer[] = [];
  let filled = 0;

  function copy(bytes: Uint8Array): Uint8Array {
    let buffer = used.at(-1);
    if (buffer === undefined || buffer.length - filled < bytes.length) {
      buffer = buffers.take(BUFFER_BYTES);
      used.push(buffer);
      filled = 0;
    }
    const own = buffer.subarray(filled, filled + bytes.length);
    own.set(bytes);
    filled += bytes.length;
    return own;
  }

  return {
    keep(visited) {
      const { result } = visited;
      if (!isUnplaced(result)) return visited;
      const { bytes, extraction } = result;
      if (bytes.length > BUFFER_BYTES || extraction.length > BUFFER_BYTES) return visited;
      return { ...visited, result: { ...result, bytes: copy(bytes), extraction: copy(extraction) } };
    },
    giveBack() {
      for (const buffer of used.splice(0)) buffers.giveBack(buffer);
    },
  };
}
