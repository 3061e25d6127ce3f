import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gatherBytes } from '../../../exporter/crawl/gathered-bytes.ts';
import { isUnplaced, type Visited } from '../../../exporter/crawl/visited.ts';
import { createSegmentStore, type SegmentStore } from '../../../exporter/segments/segment-store.ts';
import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../../platform/objects/object-store.ts';

const KIB = 1024;
const BODY_BYTES = 100 * KIB;
const body = (index: number): Buffer => Buffer.alloc(BODY_BYTES, index);

function visited(index: number): Visited {
  return {
    leased: { id: index, url: `https://d.example/${index}`, rank: 5, depth: 1, attempts: 1 },
    result: {
      ...{ id: index, outcome: 'file', status: 200, contentType: 'text/html', isPage: true, sha256: '', path: 'p' },
      ...{ bytes: body(index), extraction: Buffer.from(`extraction ${index}`) },
    },
    resources: [],
  };
}

/** Hashes, which are compared much faster than the bytes themselves. */
function told({ result }: Visited) {
  const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  return isUnplaced(result) && [result.id, hash(result.bytes), hash(result.extraction)];
}

describe('the segment store', () => {
  let folder: string;
  let objects: ObjectStore;
  let segments: SegmentStore;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-segments-'));
    objects = await createObjectStore({ url: pathToFileURL(folder).href });
  });
  beforeEach(() => {
    // Room for two segments of the tests: the buffers of those before are used for the next ones.
    segments = createSegmentStore({ objects, cacheBytes: 300 * KIB });
  });
  afterAll(async () => {
    await objects.close();
    await rm(folder, { recursive: true, force: true });
  });

  const place = (index: number) => ({ objectKey: `one/${index}`, byteOffset: 0, byteLength: BODY_BYTES });

  it('answers each segment with its own bytes, from memory and from the store', async () => {
    for (let index = 0; index < 10; index += 1) await segments.write(`one/${index}`, [body(index), Buffer.from('!')]);
    for (let index = 0; index < 10; index += 1) {
      expect(body(index).equals(await segments.read(place(index), false))).toBe(true);
    }
    const end = { objectKey: 'one/9', byteOffset: BODY_BYTES, byteLength: 1 };
    expect(String(await segments.read(end, false))).toBe('!');
  });

  it('changes nothing that somebody has read, however much is written afterwards', async () => {
    await segments.write('one/1', [body(1)]);
    const read = await segments.read(place(1), false);
    for (let index = 2; index < 20; index += 1) await segments.write(`one/${index}`, [body(index)]);
    expect(body(1).equals(read)).toBe(true);
  });

  it('holds the bytes of a group apart from those of the group that is being stored', () => {
    const all = Array.from({ length: 40 }, (_, index) => visited(index));
    const first = gatherBytes(segments.buffers);
    const second = gatherBytes(segments.buffers);
    const kept = all.map((each, index) => (index % 2 === 0 ? first : second).keep(each));
    expect(kept.map(told)).toEqual(all.map(told));
    first.giveBack();
    const third = gatherBytes(segments.buffers);
    for (const each of all) third.keep(each);
    const odd = (_: unknown, index: number): boolean => index % 2 === 1;
    expect(kept.filter(odd).map(told)).toEqual(all.filter(odd).map(told));
  });
});
