import type { NewCrawl } from '../../../exporter/crawl-records.ts';
import type { CrawlStore } from '../../../exporter/ports.ts';
import {
  addTo,
  type CrawlStoreFixture,
  file,
  findingsOf,
  found,
  freezeAll,
  leaseMs,
  listed,
  made,
  settleAll,
  useCrawl,
} from './crawl-fixture.ts';

const LINKS = { linksOffset: 90, linksLength: 5 };
const ARCHIVE = {
  archiveKey: 'bundles/one',
  archiveSha256: 'sha',
  archiveSizeBytes: 123,
  headBytes: 40,
  manifestSha256: 'm',
};
const RESULT = { ...ARCHIVE, pageCount: 1, contentSha256: 'content', reportKey: 'report' };

/** The store's contract for an export that the project's next one reuses. */
export function reuseContract(fixture: CrawlStoreFixture): void {
  const crawl = useCrawl(fixture);
  let store: CrawlStore;

  beforeEach(() => {
    ({ store } = crawl);
  });

  /** A completed and kept export of two pages and a missing one. */
  async function completed(change: Partial<NewCrawl> = {}): Promise<{ jobId: string; projectId: string }> {
    const job = await crawl.openJob({ keep: true, ...change });
    const { jobId } = job;
    await settleAll(store, jobId, ['/a', '/b', '/gone'], ({ id }, path) => {
      if (path === '/gone') return { id, outcome: 'missing', status: 404, reason: 'HTTP 404' };
      const objectKey = `exports/${jobId}/segments/1`;
      return file(id, `${path.slice(1)}.html`, { objectKey, ...LINKS, etag: `"${path}"`, lastModified: null });
    });
    await freezeAll(store, jobId, ({ outcome }) => (outcome === 'file' ? 0 : null));
    await store.leaseBatches({ jobId, token: 'one', limit: 1, leaseMs });
    const batch = made(0, { filesJson: '["a","b"]', piecesJson: '["piece"]' });
    await store.settleBatch({ jobId, token: 'one', batch });
    expect(await store.completeExport(jobId, RESULT)).toEqual({
      state: 'completed',
      isReusable: change.keep !== false,
    });
    return job;
  }

  const baseOf = async (change: Partial<NewCrawl>): Promise<string | null | undefined> => {
    const { jobId } = await crawl.openJob({ takes: true, ...change });
    return (await store.getCrawl(jobId))?.baseJobId;
  };

  it('offers the newest kept export of the project with the same key, and only to an export that reuses', async () => {
    const { jobId, projectId } = await completed();
    expect(await baseOf({ projectId })).toBe(jobId);
    expect(await baseOf({ projectId, takes: false })).toBeNull();
    expect(await baseOf({ projectId, reuseKey: 'another' })).toBeNull();
    expect(await baseOf({})).toBeNull();
    const newer = await completed({ projectId });
    expect(await baseOf({ projectId })).toBe(newer.jobId);
    await store.forbidReuse(newer.jobId);
    expect(await baseOf({ projectId })).toBeNull();
  });

  it('opens a crawl once', async () => {
    const { jobId, projectId } = await crawl.openJob({ settingsJson: '{"first":1}' });
    const again = { jobId, projectId, settingsJson: '{}', reuseKey: 'other', takes: true, keep: true };
    expect(await store.openCrawl(again)).toMatchObject({ settingsJson: '{"first":1}', reuseKey: 'key', keep: false });
    expect(await store.getCrawl(jobId)).toMatchObject({ phase: 'crawling', urlCount: 0, revalidated: false });
  });

  it('keeps the archive, the pieces and the files of a completed export', async () => {
    const { jobId } = await completed();
    const archive = await store.archiveOf(jobId);
    expect(archive).toMatchObject({ objectKey: 'bundles/one', sizeBytes: 123 });
    expect(await store.getCrawl(jobId)).toMatchObject({ archiveHeadBytes: 40 });
    const batches = [];
    for await (const batch of archive?.batches ?? []) batches.push(batch);
    expect(batches).toEqual([{ number: 0, sizeBytes: 9, piecesJson: '["piece"]' }]);
    const all = await listed(store.fetchedFiles(jobId));
    expect(all.map(({ url }) => new URL(url).pathname).sort()).toEqual(['/a', '/b']);
    const named = await listed(
      store.fetchedFiles(
        jobId,
        ['/b', '/gone', '/none'].map((path) => found(path).url),
      ),
    );
    expect(named).toEqual([
      {
        ...{ url: found('/b').url, status: 200, contentType: 'text/html', isPage: true, sha256: 'hash', ...LINKS },
        ...{ objectKey: `exports/${jobId}/segments/1`, byteOffset: 0, byteLength: 10, extractionLength: 2 },
        ...{ etag: '"/b"', lastModified: null },
      },
    ]);
    expect(await store.archiveOf('se_none')).toBeUndefined();
  });

  it('does not offer an export that is not kept', async () => {
    const { projectId } = await completed({ keep: false });
    expect(await baseOf({ projectId })).toBeNull();
  });

  it('completes an export once', async () => {
    const { jobId } = await completed();
    expect(await store.completeExport(jobId, RESULT)).toEqual({ state: 'completed', isReusable: true });
    const other = { ...RESULT, archiveKey: 'bundles/two' };
    expect(await store.completeExport(jobId, other)).toEqual({ state: 'completed', isReusable: false });
    expect(await store.archiveOf(jobId)).toMatchObject({ objectKey: 'bundles/one' });
  });

  it('lets only one worker revalidate, and lists the queued URLs that have not failed', async () => {
    const { jobId } = crawl;
    await crawl.add(found('/tried'));
    const [tried] = await crawl.lease('one');
    const failed = { id: tried?.id ?? 0, outcome: 'retry', dueInMs: 0, reason: 'cut', status: null } as const;
    await store.settleUrls({ jobId, token: 'one', leaseMs, settled: [failed], found: [] });
    await crawl.add(
      found('/deep', { depth: 3 }),
      found('/near', { foundOn: 'x', charset: 'koi8-r' }),
      found('/out', { skip: 's', rank: 0 }),
    );
    const claims = await Promise.all([store.claimRevalidation(jobId, 9), store.claimRevalidation(jobId, 9)]);
    const untried = [found('/near', { foundOn: 'x', charset: 'koi8-r' }), found('/deep', { depth: 3 })];
    expect(claims.filter((claimed) => claimed !== undefined)).toEqual([untried]);
    const another = await crawl.openJob();
    await addTo(store, another.jobId, untried);
    expect(await store.claimRevalidation(another.jobId, 1)).toEqual([untried[0]]);
  });

  it('settles new and queued URLs with the files of the previous export', async () => {
    const { jobId: baseJobId, projectId } = await completed();
    const { jobId } = await crawl.openJob({ projectId, takes: true });
    await addTo(store, jobId, [found('/a', { rank: 1 })]);
    const unchanged = ['/a', '/b', '/gone', '/none'].map((path) => {
      const { url, depth, foundOn } = found(path);
      return { url, rank: 4, depth, foundOn, etag: `"new${path}"`, lastModified: 'today' };
    });
    const settle = { jobId, baseJobId, unchanged, decodedBytes: 30 };
    expect(await store.settleUnchanged({ ...settle, baseJobId: 'se_other' })).toBe('restarted');
    expect(await store.settleUnchanged(settle)).toBe('settled');
    const counts = { urlCount: 2, settledCount: 2, fileCount: 2, rawBytes: 20, decodedBytes: 30, storedBytes: 0 };
    expect(await store.getCrawl(jobId)).toMatchObject(counts);
    const files = await listed(store.fetchedFiles(jobId));
    const stored = { objectKey: `exports/${baseJobId}/segments/1`, sha256: 'hash', lastModified: 'today', ...LINKS };
    expect(files.sort((a, b) => (a.url < b.url ? -1 : 1))).toMatchObject([
      { url: found('/a').url, etag: '"new/a"', ...stored },
      { url: found('/b').url, etag: '"new/b"', ...stored },
    ]);
    expect(await store.crawlFindings(findingsOf(jobId))).toMatchObject({ reusedCount: 2 });
    expect(await store.crawlFindings(findingsOf(baseJobId))).toMatchObject({ reusedCount: 0 });
    const rows = await freezeAll(store, jobId, () => 0);
    expect(rows.map(({ path, rank, batch }) => [path, rank, batch]).sort()).toEqual([
      ['a.html', 4, 0],
      ['b.html', 4, 0],
    ]);
    expect(await store.settleUnchanged(settle)).toBe('over');
  });

  it('leaves a leased URL to its worker', async () => {
    const { jobId: baseJobId, projectId } = await completed();
    const { jobId } = await crawl.openJob({ projectId, takes: true });
    await addTo(store, jobId, [found('/a')]);
    await store.leaseUrls({ jobId, token: 'one', limit: 1, leaseMs });
    const { url, rank, depth, foundOn } = found('/a');
    const unchanged = [{ url, rank, depth, foundOn, etag: null, lastModified: null }];
    expect(await store.settleUnchanged({ jobId, baseJobId, unchanged, decodedBytes: 0 })).toBe('settled');
    expect(await store.frontierRest(jobId)).toMatchObject({ leased: true });
    expect(await store.getCrawl(jobId)).toMatchObject({ urlCount: 1, settledCount: 0 });
  });

  it('lists the URLs whose target has changed, unless there are too many', async () => {
    const { jobId: baseJobId, projectId } = await completed();
    const { jobId } = await crawl.openJob({ projectId, takes: true });
    await settleAll(store, jobId, ['/a', '/b', '/new'], ({ id }, path) =>
      path === '/b' ? { id, outcome: 'missing', status: 404, reason: 'HTTP 404' } : file(id, 'x.html'),
    );
    await addTo(store, jobId, [found('/out', { skip: 'robots', rank: 0 })]);
    await freezeAll(store, jobId);
    const changed = new Set(['/b', '/gone', '/new'].map((path) => found(path).url));
    expect(await store.changedUrls({ jobId, baseJobId, limit: 3 })).toEqual(changed);
    expect(await store.changedUrls({ jobId, baseJobId, limit: 2 })).toBeUndefined();
    expect(await store.changedUrls({ jobId, baseJobId: jobId, limit: 2 })).toEqual(new Set());
  });
}
