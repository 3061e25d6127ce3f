import { LRUCache } from 'lru-cache';
import type { ByteRange, ExportObjects } from '../ports.ts';

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
  /** The buffers for bytes that will be written to a segment. */
  buffers: SegmentBuffers;
};

/** `isUnread`: written here and not read yet, so its buffer can be reused. */
type Segment = { bytes: Buffer; buffer: Buffer; isUnread: boolean };

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
  objects: ExportObjects;
  cacheBytes: number;
}): SegmentStore {
  const buffers = createSegmentBuffers({ maxIdleBytes: MAX_IDLE_BYTES });
  const cache = new LRUCache<string, Segment>({
    maxSize: Math.max(1, cacheBytes),
    sizeCalculation: ({ buffer }) => Math.max(1, buffer.length),
    dispose: giveBack,
    async fetchMethod(objectKey) {
      const bytes = await objects.read(objectKey);
      return { bytes, buffer: bytes, isUnread: false };
    },
    // A pending read that is dropped still has callers.
    ignoreFetchAbort: true,
  });

  function giveBack({ buffer, isUnread }: Segment): void {
    if (isUnread) buffers.giveBack(buffer);
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
      const segment = { bytes, buffer, isUnread: true };
      cache.set(objectKey, segment);
      if (!cache.has(objectKey)) giveBack(segment);
    },

    async read({ objectKey, byteOffset, byteLength }, segmentsFit) {
      if (byteLength === 0) return Buffer.alloc(0);
      const end = byteOffset + byteLength;
      const known = cache.get(objectKey);
      if (known !== undefined) {
        // At once: until then its buffer may be reused.
        known.isUnread = false;
        return known.bytes.subarray(byteOffset, end);
      }
      if (segmentsFit) return (await cache.forceFetch(objectKey)).bytes.subarray(byteOffset, end);
      return objects.read(objectKey, rangeOf({ objectKey, byteOffset, byteLength }));
    },
  };
}

/** A pool of large buffers, from some hundred kilobytes up. */
export type SegmentBuffers = {
  /** Returns a buffer that has at least this length; its content is undefined. */
  take(byteLength: number): Buffer;
  /** Call it only when no one can read the buffer any more. Buffers that aren't given back are garbage-collected. */
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
function createSegmentBuffers({ maxIdleBytes }: { maxIdleBytes: number }): SegmentBuffers {
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

/** The maximum size of one read, and of an unneeded gap between two parts. */
const MAX_GROUP_BYTES = 1024 * 1024;
const MAX_GAP_BYTES = 16 * 1024;

type Group = Extent & { members: number[] };

/**
 * Reads parts of segments, in the given order. One request reads parts that are close together, as pages crawled
 * together usually are in the bundle too.
 */
export async function readTogether(
  segments: Pick<SegmentStore, 'read'>,
  extents: readonly Extent[],
  segmentsFit: boolean,
): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  await Promise.all(
    groupsOf(extents).map(async ({ members, ...whole }) => {
      const bytes = await segments.read(whole, segmentsFit);
      for (const index of members) {
        const extent = extents[index];
        if (extent === undefined) continue;
        const start = extent.byteOffset - whole.byteOffset;
        parts[index] = bytes.subarray(start, start + extent.byteLength);
      }
    }),
  );
  return parts;
}

function groupsOf(extents: readonly Extent[]): Group[] {
  const inPlace = [...extents.entries()].sort(([, a], [, b]) =>
    a.objectKey === b.objectKey ? a.byteOffset - b.byteOffset : a.objectKey < b.objectKey ? -1 : 1,
  );
  const groups: Group[] = [];
  for (const [index, { objectKey, byteOffset, byteLength }] of inPlace) {
    const last = groups.at(-1);
    const end = byteOffset + byteLength;
    const isNear =
      last?.objectKey === objectKey &&
      byteOffset - (last.byteOffset + last.byteLength) <= MAX_GAP_BYTES &&
      end - last.byteOffset <= MAX_GROUP_BYTES;
    if (isNear) {
      last.byteLength = Math.max(last.byteLength, end - last.byteOffset);
      last.members.push(index);
    } else {
      groups.push({ objectKey, byteOffset, byteLength, members: [index] });
    }
  }
  return groups;
}
