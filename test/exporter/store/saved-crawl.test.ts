import { randomUUID } from 'node:crypto';
import { createMemoryCrawlStore, type MemoryCrawlStore } from '../../../exporter/store/memory-crawl-store.ts';
import { loadCrawl, readIntactHead, saveCrawl } from '../../../exporter/store/saved-crawl.ts';
import { createSpill } from '../../../exporter/store/spill.ts';
import { file, found, freezeAll, leaseMs, listed, made, settleAll } from './crawl-fixture.ts';

const spill = createSpill('/nonexistent/spill');
const jobId = 'se_first';

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

async function all<Item>(items: AsyncIterable<Item> | Item[]): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** A completed export with every kind of row and text. */
async function completedStore(): Promise<MemoryCrawlStore> {
  const store = createMemoryCrawlStore({ spill });
  const crawl = { jobId, projectId: 'prj', settingsJson: '{"a":"ä"}', reuseKey: 'key', takes: true, keep: true };
  await store.openCrawl(crawl);
  await settleAll(store, jobId, ['/a', '/b', '/old', '/gone'], ({ id }, path) => {
    if (path === '/old') return { id, outcome: 'redirect', status: 301, redirectTo: found('/a').url };
    if (path === '/gone') return { id, outcome: 'missing', status: 404, reason: 'HTTP 404' };
    return file(id, `${path.slice(1)}.html`, { etag: '"1"', linksOffset: 20, linksLength: 5 });
  });
  await freezeAll(store, jobId, ({ outcome, url }) => (outcome === 'file' ? Number(url.endsWith('/b')) : null));
  await store.leaseBatches({ jobId, token: 'one', limit: 2, leaseMs });
  const broken = { brokenJson: '{"https://d.example/gone":[]}' };
  await store.settleBatch({ jobId, token: 'one', batch: made(0, broken) });
  const parts = { objectKey: null, partsJson: '["part"]' };
  await store.settleBatch({ jobId, token: 'one', batch: made(1, parts) });
  const archive = {
    archiveKey: 'bundle',
    archiveSha256: 'sha',
    archiveSizeBytes: 9,
    headBytes: 4,
    manifestSha256: 'm',
  };
  await store.completeExport(jobId, { ...archive, pageCount: 2, contentSha256: 'content', reportKey: 'report' });
  return store;
}

async function savedLines(): Promise<string[]> {
  const crawl = (await completedStore()).crawlOf(jobId);
  return crawl === undefined ? [] : [...saveCrawl(crawl, spill)];
}

describe('a saved crawl', () => {
  it('is the same after loading, and can be reused', async () => {
    const before = await completedStore();
    const lines = await savedLines();
    expect(await readIntactHead(each(lines))).toEqual({ reuseKey: 'key' });
    const after = createMemoryCrawlStore({ spill, previous: [await loadCrawl(each(lines), spill)] });
    const seenOf = async (store: MemoryCrawlStore) => {
      const { batches: pieces, ...archive } = (await store.archiveOf(jobId)) ?? {};
      return {
        crawl: await store.getCrawl(jobId),
        archive,
        files: await listed(store.fetchedFiles(jobId)),
        map: await listed(store.mappedUrls(jobId)),
        pieces: await all(pieces ?? []),
        batches: await all(store.settledBatches(jobId)),
      };
    };
    expect(await seenOf(after)).toEqual(await seenOf(before));
    const next = {
      jobId: randomUUID(),
      projectId: 'prj',
      settingsJson: '{}',
      reuseKey: 'key',
      takes: true,
      keep: true,
    };
    expect(await after.openCrawl(next)).toMatchObject({ baseJobId: jobId });
  });

  it('is not intact if a line is missing, changed or added', async () => {
    const lines = await savedLines();
    const isIntact = async (changed: readonly string[]) => (await readIntactHead(each(changed))) !== undefined;
    expect(await isIntact(lines)).toBe(true);
    expect(await isIntact([])).toBe(false);
    expect(await isIntact(lines.slice(0, -1))).toBe(false);
    expect(await isIntact(lines.toSpliced(2, 1))).toBe(false);
    expect(await isIntact(lines.with(2, `${lines[2]} `))).toBe(false);
    expect(await isIntact([...lines, ''])).toBe(false);
  });
});
