import { Readable } from 'node:stream';
import { readExtents } from '../../../exporter/assemble/extents.ts';
import { ObjectMissingError } from '../../../exporter/export-failure.ts';
import type { Extent } from '../../../exporter/store/segment-store.ts';
import type { ObjectStore } from '../../../platform/objects/object-store.ts';

const MIB = 1024 * 1024;
const whole = Buffer.from(Array.from({ length: 3 * MIB }, (_, index) => index % 251));

/** A store of one object that counts its reads. */
function countingStore(missing?: string) {
  const counts = { streams: 0, reads: 0, atOnce: 0 };
  let underWay = 0;
  const part = (range?: { start: number; end?: number }) => whole.subarray(range?.start, (range?.end ?? NaN) + 1);
  const store: Pick<ObjectStore, 'get' | 'read'> = {
    async get(_key, range) {
      counts.streams += 1;
      return Readable.from([part(range)]);
    },
    async read(key, range) {
      underWay += 1;
      counts.reads += 1;
      counts.atOnce = Math.max(counts.atOnce, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      if (key === missing) throw new ObjectMissingError(key);
      return part(range);
    },
  };
  return { store, counts };
}

const extent = (byteOffset: number, byteLength: number, objectKey = 'whole'): Extent => ({
  ...{ objectKey, byteOffset, byteLength },
});

async function bytesOf(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of parts) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('readExtents', () => {
  it('returns extents in order, reads small ones concurrently and streams large ones', async () => {
    const { store, counts } = countingStore();
    const small = Array.from({ length: 40 }, (_, index) => extent((39 - index) * 1_000, 1_000));
    const extents = [...small, extent(0, 2 * MIB), extent(7, 13)];
    const expected = extents.map(({ byteOffset, byteLength }) => whole.subarray(byteOffset, byteOffset + byteLength));
    expect((await bytesOf(readExtents(store, extents))).equals(Buffer.concat(expected))).toBe(true);
    expect(counts).toEqual({ streams: 1, reads: 41, atOnce: 9 });
  });

  it('fails for a missing object after it has returned all extents before it', async () => {
    const { store } = countingStore('gone');
    const read: Buffer[] = [];
    const reading = async () => {
      for await (const chunk of readExtents(store, [extent(0, 5), extent(5, 5), extent(0, 5, 'gone'), extent(9, 1)])) {
        read.push(chunk);
      }
    };
    await expect(reading()).rejects.toThrow(ObjectMissingError);
    expect(Buffer.concat(read)).toEqual(whole.subarray(0, 10));
  });
});
