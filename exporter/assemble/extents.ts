import type { SettledBatch } from '../crawl-records.ts';
import type { ExportObjects } from '../ports.ts';
import { type Extent, rangeOf } from '../store/segment-store.ts';

/** Where the bytes of a batch are, in order. */
export function extentsOf({
  objectKey,
  sizeBytes,
  partsJson,
}: Pick<SettledBatch, 'objectKey' | 'sizeBytes' | 'partsJson'>): Extent[] {
  if (objectKey === null) return JSON.parse(partsJson ?? '[]');
  return sizeBytes === 0 ? [] : [{ objectKey, byteOffset: 0, byteLength: sizeBytes }];
}

/** A larger extent is streamed. */
const SMALL_BYTES = 1024 * 1024;
/** Small extents that are read ahead. */
const READ_AHEAD = 8;

/**
 * The bytes of these extents, in order. Reads small ones ahead, because each is a round trip to the store, and an
 * archive with many reused pieces has hundreds.
 */
export async function* readExtents(
  objects: Pick<ExportObjects, 'get' | 'read'>,
  extents: readonly Extent[],
): AsyncGenerator<Buffer> {
  const ahead = new Map<Extent, Promise<Buffer>>();
  let begun = 0;

  function readAhead(index: number): void {
    for (const extent of extents.slice(begun, index + READ_AHEAD + 1)) {
      if (extent.byteLength > SMALL_BYTES) continue;
      const reading = objects.read(extent.objectKey, rangeOf(extent));
      // The failure is handled when its turn comes; another one may come first.
      reading.catch(() => undefined);
      ahead.set(extent, reading);
    }
    begun = Math.max(begun, index + READ_AHEAD + 1);
  }

  for (const [index, extent] of extents.entries()) {
    readAhead(index);
    const reading = ahead.get(extent);
    ahead.delete(extent);
    if (reading === undefined) yield* await objects.get(extent.objectKey, rangeOf(extent));
    else yield await reading;
  }
}
