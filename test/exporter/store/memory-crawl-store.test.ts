import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CrawlStore } from '../../../exporter/ports.ts';
import { createMemoryCrawlStore } from '../../../exporter/store/memory-crawl-store.ts';
import { createSpill, type Spill } from '../../../exporter/store/spill.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { crawlStoreContract } from './crawl-store-contract.ts';

const folder = temporaryFolder();

describe.each([
  ['all rows in memory', undefined],
  ['most rows in the spill file', 300],
])('the crawl store of one process, %s', (_name, memoryBytes) => {
  let spill: Spill;
  let store: CrawlStore;

  beforeEach(() => {
    spill = createSpill(join(folder, randomUUID()), memoryBytes === undefined ? {} : { memoryBytes });
    store = createMemoryCrawlStore({ spill });
  });

  afterEach(() => spill.close());

  crawlStoreContract({
    get store() {
      return store;
    },
    newJob: async (projectId = randomUUID()) => ({ jobId: randomUUID(), projectId }),
  });
});

describe('a spill', () => {
  it('returns every text from memory and file, of any size and in any script', async () => {
    const path = join(folder, 'texts');
    const spill = createSpill(path, { memoryBytes: 1_000 });
    const texts = Array.from({ length: 400 }, (_, index) => `${index}-äß…😀`.repeat(1 + ((index * 37) % 300)));
    const places = texts.map((text) => spill.write(text));
    expect(places.map((place) => spill.read(place))).toEqual(texts);
    expect(places.toReversed().map((place) => spill.read(place))).toEqual(texts.toReversed());
    expect((await stat(path)).size).toBeGreaterThan(1_000);
    spill.close();
  });

  it('writes no file while the texts fit in memory', async () => {
    const path = join(folder, 'small');
    const spill = createSpill(path);
    expect(spill.read(spill.write('one'))).toBe('one');
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });
});
