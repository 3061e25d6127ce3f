import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { gatherBytes, isUnplaced } from '../../../exporter/crawl/store-visits.ts';
import type { Visited } from '../../../exporter/crawl-records.ts';
import {
  createSegmentStore,
  type Extent,
  readTogether,
  type SegmentStore,
} from '../../../exporter/store/segment-store.ts';
import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../../platform/objects/object-store.ts';
import fc from '../../helpers/fast-check.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const KIB = 1024;
const BODY_BYTES = 100 * KIB;
const body = (index: number): Buffer => Buffer.alloc(BODY_BYTES, index);

function visited(index: number): Visited {
  return {
    leased: { id: index, url: `https://d.example/${index}`, rank: 5, depth: 1, charset: null, attempts: 1 },
    result: {
      ...{ id: index, outcome: 'file', status: 200, contentType: 'text/html', isPage: true, sha256: '', path: 'p' },
      ...{ bytes: body(index), extraction: Buffer.from(`extraction ${index}`) },
    },
    resources: [],
  };
}

/** Compares hashes, which is much faster than comparing the bytes. */
function hashesOf({ result }: Visited) {
  const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  return isUnplaced(result) && [result.id, hash(result.bytes), hash(result.extraction)];
}

describe('the segment store', () => {
  const folder = temporaryFolder();
  let objects: ObjectStore;
  let segments: SegmentStore;

  beforeAll(async () => {
    objects = await createObjectStore({ url: pathToFileURL(folder).href });
  });
  beforeEach(() => {
    // The cache has room for two segments, so buffers are reused.
    segments = createSegmentStore({ objects, cacheBytes: 300 * KIB });
  });
  afterAll(async () => {
    await objects.close();
  });

  const place = (index: number) => ({ objectKey: `one/${index}`, byteOffset: 0, byteLength: BODY_BYTES });

  it('returns the right bytes of each segment, from the cache and from the store', async () => {
    for (let index = 0; index < 10; index += 1) await segments.write(`one/${index}`, [body(index), Buffer.from('!')]);
    for (let index = 0; index < 10; index += 1) {
      expect(body(index).equals(await segments.read(place(index), false))).toBe(true);
    }
    const end = { objectKey: 'one/9', byteOffset: BODY_BYTES, byteLength: 1 };
    expect(String(await segments.read(end, false))).toBe('!');
  });

  it('never overwrites bytes that were read, however much is written afterwards', async () => {
    await segments.write('one/1', [body(1)]);
    const read = await segments.read(place(1), false);
    for (let index = 2; index < 20; index += 1) await segments.write(`one/${index}`, [body(index)]);
    expect(body(1).equals(read)).toBe(true);
  });

  it('separates the bytes of a group from the group that is being stored', () => {
    const all = Array.from({ length: 40 }, (_, index) => visited(index));
    const first = gatherBytes(segments.buffers);
    const second = gatherBytes(segments.buffers);
    const kept = all.map((each, index) => (index % 2 === 0 ? first : second).keep(each));
    expect(kept.map(hashesOf)).toEqual(all.map(hashesOf));
    first.giveBack();
    const third = gatherBytes(segments.buffers);
    for (const each of all) third.keep(each);
    const odd = (_: unknown, index: number): boolean => index % 2 === 1;
    expect(kept.filter(odd).map(hashesOf)).toEqual(all.filter(odd).map(hashesOf));
  });
});

const SEGMENT_BYTES = 4 * KIB * KIB;
const contents = new Map(
  ['a', 'b'].map((key, step) => [
    key,
    Buffer.from(Array.from({ length: SEGMENT_BYTES }, (_, at) => (at + step) % 251)),
  ]),
);

/** Segments that record their reads. */
function recordingSegments() {
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

describe('readTogether', () => {
  it('returns each part in the requested order', async () => {
    const some = fc.record({
      objectKey: fc.constantFrom('a', 'b'),
      byteOffset: fc.nat(SEGMENT_BYTES - 600 * KIB),
      byteLength: fc.nat(600 * KIB),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 12 }), async (extents) => {
        const { segments } = recordingSegments();
        const parts = await readTogether(segments, extents, false);
        expect(parts.length).toBe(extents.length);
        for (const [index, each] of extents.entries()) expect(parts[index]?.equals(partOf(each))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('reads adjacent parts with one request, and distant or large parts separately', async () => {
    const { reads, segments } = recordingSegments();
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
