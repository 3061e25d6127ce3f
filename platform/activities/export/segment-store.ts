import type { ObjectStore } from '../../objects/object-store.ts';

/** A part of a stored object, in bytes. */
export type Extent = { objectKey: string; byteOffset: number; byteLength: number };

/** Fewer extents that name the same bytes in the same order: those that follow one another in an object become one. */
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

export type SegmentStore = {
  write(objectKey: string, bytes: Buffer): Promise<void>;
  /** Reads a part of a segment; the answer may share memory with the cache and must not be changed. */
  read(extent: Extent, segmentsFit: boolean): Promise<Buffer>;
};

/**
 * The crawl's segments with a bounded cache in memory. A worker that crawled rewrites mostly what it still holds; of a
 * site whose segments all fit (`segmentsFit`) another worker reads each segment once and whole, of a larger one only
 * the parts it needs.
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
  const sizes = new Map<string, number>();
  let total = 0;

  function forget(objectKey: string): void {
    cache.delete(objectKey);
    total -= sizes.get(objectKey) ?? 0;
    sizes.delete(objectKey);
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
    async write(objectKey, bytes) {
      await objects.put(objectKey, bytes, { contentType: 'application/octet-stream', sizeBytes: bytes.length });
      cache.set(objectKey, Promise.resolve(bytes));
      remember(objectKey, bytes);
    },

    async read({ objectKey, byteOffset, byteLength }, segmentsFit) {
      if (byteLength === 0) return Buffer.alloc(0);
      const end = byteOffset + byteLength;
      const known = cache.get(objectKey);
      if (known !== undefined) {
        cache.delete(objectKey);
        cache.set(objectKey, known);
        return (await known).subarray(byteOffset, end);
      }
      if (segmentsFit) return (await readWhole(objectKey)).subarray(byteOffset, end);
      return objects.read(objectKey, { start: byteOffset, end: end - 1 });
    },
  };
}
