import { readTogether } from '../../../exporter/segments/read-together.ts';
import type { Extent } from '../../../exporter/segments/segment-store.ts';
import fc from '../../helpers/fast-check.ts';

const KIB = 1024;
const SEGMENT_BYTES = 4 * KIB * KIB;
const contents = new Map(
  ['a', 'b'].map((key, step) => [
    key,
    Buffer.from(Array.from({ length: SEGMENT_BYTES }, (_, at) => (at + step) % 251)),
  ]),
);

/** Segments that note what is read of them. */
function noting() {
  const reads: Extent[] = [];
  const read = async (extent: Extent): Promise<Buffer> => {
    reads.push(extent);
    return partOf(extent);
  };
  return { reads, segments: { read } };
}

function partOf({ objectKey, byteOffset, byteLength }: Extent): Buffer {
  return contents.get(objectKey)?.subarray(byteOffset, byteOffset + byteLength) ?? Buffer.alloc(0);
}

const extent = (objectKey: string, byteOffset: number, byteLength: number): Extent => ({
  ...{ objectKey, byteOffset, byteLength },
});

describe('parts of segments that are read together', () => {
  it('are what each would be by itself, in the order asked for', async () => {
    const some = fc.record({
      objectKey: fc.constantFrom('a', 'b'),
      byteOffset: fc.nat(SEGMENT_BYTES - 600 * KIB),
      byteLength: fc.nat(600 * KIB),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 12 }), async (extents) => {
        const { segments } = noting();
        const parts = await readTogether(segments, extents, false);
        expect(parts.length).toBe(extents.length);
        for (const [index, each] of extents.entries()) expect(parts[index]?.equals(partOf(each))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('come with one request where they lie close together, and by themselves where they are far apart or many', async () => {
    const { reads, segments } = noting();
    const far = extent('a', 3 * KIB * KIB, 10);
    const large = [extent('b', 0, 700 * KIB), extent('b', 700 * KIB, 700 * KIB)];
    const near = [extent('a', 5_000, 10), extent('a', 0, 100), extent('a', 100, 20)];
    await readTogether(segments, [far, ...near, ...large], false);
    expect(reads.map(({ objectKey, byteOffset, byteLength }) => [objectKey, byteOffset, byteLength])).toEqual([
      ['a', 0, 5_010],
      ['a', 3 * KIB * KIB, 10],
      ['b', 0, 700 * KIB],
      ['b', 700 * KIB, 700 * KIB],
    ]);
  });
});
