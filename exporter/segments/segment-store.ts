import type { ByteRange, ObjectStore } from '../ports.ts';
import { createSegmentBuffers, type SegmentBuffers } from './segment-buffers.ts';

/** A part of a stored object, in bytes. */
export type Extent = { objectKey: string; byteOffset: number; byteLength: number };

/** Merges extents that follow one another in the same object. */
export function joinExtents(extents: readonly Extent[]): Extent[] {
  const joined: Extent[] = [];
  for (const extent of extents) {
    const last = joined.at(-1);
    if (last?.objectKey === extent.objectKey && last.byteOffset + last.byteLength === extent.byteOffset) {
      last.byteLength += extent.byteLength;
    } else {
      joined.push({ ...extent });
    }
  }
  return joined;
}

/** An extent of at least one byte as a range of its object. */
export function rangeOf({ byteOffset, byteLength }: Extent): ByteRange {
  return { start: byteOffset, end: byteOffset + byteLength - 1 };
}

export type SegmentStore = {
  /** Stores the parts as one object, one after another. */
  write(objectKey: string, parts: readonly Uint8Array[]): Promise<void>;
  /** Reads a part of a segment. The result may share memory with the cache and must not be changed. */
  read(extent: Extent, segmentsFit: boolean): Promise<Buffer>;
  /** For bytes that will be written to a segment. */
  buffers: SegmentBuffers;
};

const MAX_IDLE_BYTES = 8 * 1024 * 1024;

/**
 * The crawl's segments with a bounded memory cache, so that a worker rewrites mostly what it has just crawled. If all
 * segments of a site fit (`segmentsFit`), other workers read each segment once and completely; otherwise only the parts
 * that they need.
 */
export function createSegmentStore({
  objects,
  cacheBytes,
}: {
  objects: ObjectStore;
  cacheBytes: number;
}): SegmentStore {
  // A Map keeps its order of insertion, so the first key is the one used longest ago.
  const cache = new Map<string, Promise<Buffer>>();
  const buffers = createSegmentBuffers({ maxIdleBytes: MAX_IDLE_BYTES });
  /** Buffers of segments that were written here and not read yet, so they can be reused. */
  const unread = new Map<string, Buffer>();
  const sizes = new Map<string, number>();
  let total = 0;

  function forget(objectKey: string): void {
    cache.delete(objectKey);
    total -= sizes.get(objectKey) ?? 0;
    sizes.delete(objectKey);
    const buffer = unread.get(objectKey);
    unread.delete(objectKey);
    if (buffer !== undefined) buffers.giveBack(buffer);
  }

  function remember(objectKey: string, bytes: Buffer): void {
    total += bytes.length - (sizes.get(objectKey) ?? 0);
    sizes.set(objectKey, bytes.length);
    for (const oldest of cache.keys()) {
      if (total <= cacheBytes) return;
      forget(oldest);
    }
  }

  function readWhole(objectKey: string): Promise<Buffer> {
    const reading = objects.read(objectKey);
    cache.set(objectKey, reading);
    reading.then(
      (bytes) => remember(objectKey, bytes),
      () => forget(objectKey),
    );
    return reading;
  }

  return {
    buffers,

    async write(objectKey, parts) {
      const byteLength = parts.reduce((sum, part) => sum + part.length, 0);
      const buffer = buffers.take(byteLength);
      let byteOffset = 0;
      for (const part of parts) {
        buffer.set(part, byteOffset);
        byteOffset += part.length;
      }
      const bytes = buffer.subarray(0, byteLength);
      await objects.put(objectKey, bytes, { contentType: 'application/octet-stream', sizeBytes: bytes.length });
      cache.set(objectKey, Promise.resolve(bytes));
      unread.set(objectKey, buffer);
      remember(objectKey, buffer);
    },

    async read({ objectKey, byteOffset, byteLength }, segmentsFit) {
      if (byteLength === 0) return Buffer.alloc(0);
      const end = byteOffset + byteLength;
      const known = cache.get(objectKey);
      if (known !== undefined) {
        unread.delete(objectKey);
        cache.delete(objectKey);
        cache.set(objectKey, known);
        return (await known).subarray(byteOffset, end);
      }
      if (segmentsFit) return (await readWhole(objectKey)).subarray(byteOffset, end);
      return objects.read(objectKey, rangeOf({ objectKey, byteOffset, byteLength }));
    },
  };
}
