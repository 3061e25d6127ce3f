import type { ObjectStore } from '../ports.ts';
import { type Extent, rangeOf } from '../segments/segment-store.ts';

/** A larger extent is streamed. */
const SMALL_BYTES = 1024 * 1024;
/** Small extents that are read ahead. */
const READ_AHEAD = 8;

/**
 * The bytes of these extents, in order. Reads small ones ahead, because each is a round trip to the store, and an
 * archive with many reused pieces has hundreds.
 */
export async function* readExtents(
  objects: Pick<ObjectStore, 'get' | 'read'>,
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
