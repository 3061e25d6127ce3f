import type { CrawlStore } from '../../../exporter/ports.ts';
import { SKIPPED_RANK } from '../../../exporter/urls/resource-rank.ts';
import {
  addTo,
  type CrawlStoreFixture,
  file,
  findingsOf,
  found,
  freezeAll,
  leaseMs,
  settleAll,
  useCrawl,
} from './crawl-fixture.ts';

/** The frontier's contract. */
export function frontierContract(fixture: CrawlStoreFixture): void {
  const crawl = useCrawl(fixture);
  const { add, lease } = crawl;
  let store: CrawlStore;
  let jobId: string;

  beforeEach(() => {
    ({ store, jobId } = crawl);
  });

  it('leases each URL to one worker, oldest first', async () => {
    await add(...['/a', '/b', '/c'].map((path) => found(path)));
    const [one, two] = [await lease('one', 2), await lease('two', 2)];
    expect(one.map((row) => row.url).sort()).toEqual(['https://d.example/a', 'https://d.example/b']);
    expect(two.map((row) => row.url)).toEqual(['https://d.example/c']);
    expect(await lease('three')).toEqual([]);
    expect(await store.frontierRest(jobId)).toEqual({ queuedCount: 0, leased: true, dueInMs: null });
  });

  it('settles results, adds found URLs, leases some of them and counts, all in one call', async () => {
    await add(found('/'));
    const [home] = await lease('one');
    const report = await store.settleUrls({
      jobId,
      token: 'one',
      leaseMs,
      settled: [file(home?.id ?? 0, 'index.html')],
      found: [
        found('/'),
        found('/a', { take: true, charset: 'koi8-r' }),
        found('/b', { charset: 'big5' }),
        found('/c', { skip: 'robots', rank: 0 }),
      ],
    });
    expect(report).toMatchObject({ urlCount: 3, settledCount: 1 });
    expect(report?.taken).toEqual([
      { id: expect.any(Number), url: 'https://d.example/a', rank: 5, depth: 1, attempts: 1, charset: 'koi8-r' },
    ]);
    expect(await store.frontierRest(jobId)).toMatchObject({ queuedCount: 1, leased: true, dueInMs: 0 });
    expect(await lease('two')).toMatchObject([{ url: 'https://d.example/b', charset: 'big5' }]);
    expect(await store.countPages(jobId)).toBe(1);
    expect(await store.getCrawl(jobId)).toMatchObject({ rawBytes: 10, skippedCount: 1 });
  });

  it('settles a URL for which the same report has a stronger use', async () => {
    await add(found('/guess', { rank: 1 }));
    const [guess] = await lease('one');
    const settled = [file(guess?.id ?? 0, 'guess.html')];
    const stronger = [found('/guess', { rank: 4, take: true })];
    const report = await store.settleUrls({ jobId, token: 'one', leaseMs, settled, found: stronger });
    expect(report).toMatchObject({ urlCount: 1, settledCount: 1, taken: [] });
    expect(await store.frontierRest(jobId)).toEqual({ queuedCount: 0, leased: false, dueInMs: null });
    expect(await freezeAll(store, jobId)).toMatchObject([{ rank: 4, outcome: 'file' }]);
  });

  it('ignores the results of a worker that lost its lease', async () => {
    await add(found('/'));
    const [row] = await lease('dead');
    await store.releaseLeases(jobId, ['dead']);
    const [again] = await lease('alive');
    expect(again).toMatchObject({ id: row?.id, attempts: 1 });
    const settled = [file(row?.id ?? 0, 'stale.html')];
    expect(await store.settleUrls({ jobId, token: 'dead', leaseMs, settled, found: [] })).toMatchObject({
      ...{ settledCount: 0, fileCount: 0, decodedBytes: 0, storedBytes: 0 },
    });
    expect(await store.frontierRest(jobId)).toMatchObject({ leased: true });
  });

  it('releases leases that have expired', async () => {
    await add(found('/'));
    await store.leaseUrls({ jobId, token: 'slow', limit: 1, leaseMs: -1_000 });
    await store.releaseEndedLeases(jobId);
    expect(await lease('other')).toHaveLength(1);
  });

  it("accepts results of many workers that find each other's URLs without a deadlock", async () => {
    const names = Array.from({ length: 160 }, (_, index) => `/p/${String(index).padStart(3, '0')}`);
    await add(...names.map((name) => found(name, { rank: 1 })));
    const work = async (token: string): Promise<void> => {
      for (let leased = await lease(token, 8); leased.length > 0; leased = await lease(token, 8)) {
        const settled = leased.map(({ id, url }) => file(id, `${url.slice(-3)}.html`)).reverse();
        const all = names.map((name) => found(name, { rank: 5 }));
        await Promise.all([
          store.settleUrls({ jobId, token, leaseMs, settled, found: all }),
          store.renewLeases({ jobId, token, leaseMs: 4 * leaseMs }),
          store.releaseEndedLeases(jobId),
          store.releaseLeases(jobId, [token]),
        ]);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(work));
    const count = names.length;
    const spent = { fileCount: count, decodedBytes: 10 * count, storedBytes: 12 * count };
    expect(await store.getCrawl(jobId)).toMatchObject({ urlCount: count, settledCount: count, ...spent });
  });

  it('leases a failed URL again only when it is due', async () => {
    await add(found('/now'), found('/later'));
    const rows = await lease('one');
    const settled = rows.map(({ id, url }) => {
      const dueInMs = url.endsWith('/now') ? 0 : 3_600_000;
      return { id, outcome: 'retry', dueInMs, reason: 'cut', status: 200, decodedBytes: 5 } as const;
    });
    const spent = { fileCount: 0, decodedBytes: 10, storedBytes: 0 };
    expect(await store.settleUrls({ jobId, token: 'one', leaseMs, settled, found: [] })).toMatchObject(spent);
    expect(await lease('one')).toMatchObject([{ url: 'https://d.example/now', attempts: 2 }]);
    const { dueInMs } = await store.frontierRest(jobId);
    expect(dueInMs).toBeGreaterThan(0);
    expect(dueInMs).toBeLessThanOrEqual(3_600_000);
  });

  it('keeps the strongest use of a URL, and enqueues a skipped page that is needed as an asset', async () => {
    const skipped = { rank: SKIPPED_RANK, skip: 'robots' };
    await add(found('/guess', { rank: 1 }), found('/left-out', skipped), found('/tried', skipped));
    await add(found('/guess', { rank: 4 }), found('/left-out', { rank: 4 }), found('/tried', { rank: 0 }));
    await add(found('/guess', { rank: 2 }), found('/tried', skipped));
    const leased = await lease('one');
    expect(leased.map(({ url, rank }) => [url, rank]).sort()).toEqual([
      ['https://d.example/guess', 4],
      ['https://d.example/left-out', 4],
      ['https://d.example/tried', 0],
    ]);
  });

  it('accepts nothing after the crawl is frozen or deleted', async () => {
    await freezeAll(store, jobId);
    expect(await add(found('/late'))).toBeUndefined();
    await store.addNotices({ jobId, url: null, texts: ['late'] });
    expect((await store.crawlFindings(findingsOf(jobId))).notices).toEqual([]);
    expect(await addTo(store, 'se_gone', [found('/')])).toBeUndefined();
    expect(await store.getCrawl('se_gone')).toBeUndefined();
    expect(await store.leaseUrls({ jobId: 'se_gone', token: 'one', limit: 1, leaseMs })).toEqual([]);
  });

  it('accepts concurrent reports of the same URLs', async () => {
    const urls = Array.from({ length: 200 }, (_, index) => `/p${String(index).padStart(3, '0')}`);
    const reports = Array.from({ length: 8 }, (_, worker) =>
      store.settleUrls({
        jobId,
        token: `w${worker}`,
        leaseMs,
        settled: [],
        found: urls.map((path) => found(path, { rank: 1 + (worker % 5), take: worker % 2 === 0 })),
      }),
    );
    const results = await Promise.all(reports);
    const taken = results.flatMap((report) => report?.taken ?? []);
    expect(new Set(taken.map((row) => row.url)).size).toBe(taken.length);
    expect((await store.getCrawl(jobId))?.urlCount).toBe(200);
  });

  it('leases a named URL only if it is queued', async () => {
    await add(found('/a'), found('/b'));
    const urls = ['/a', '/none'].map((path) => found(path).url);
    const leased = await store.leaseUrls({ jobId, token: 'one', leaseMs, urls });
    expect(leased).toMatchObject([{ url: urls[0], attempts: 1 }]);
    expect(await store.leaseUrls({ jobId, token: 'two', leaseMs, urls })).toEqual([]);
    expect((await lease('two')).map(({ url }) => url)).toEqual([found('/b').url]);
    await store.releaseLeases(jobId, ['one', 'two']);
    expect((await lease('three')).map(({ url }) => url).sort()).toEqual([found('/a').url, found('/b').url]);
  });

  it('leases the URLs nearest to the start page first, also after a release', async () => {
    await add(found('/deep', { depth: 2 }), found('/far', { depth: 9 }), found('/near'));
    const pathsOf = async (token: string, limit: number) =>
      (await lease(token, limit)).map(({ url }) => new URL(url).pathname).sort();
    expect(await pathsOf('one', 2)).toEqual(['/deep', '/near']);
    await store.releaseLeases(jobId, ['one']);
    expect(await pathsOf('two', 1)).toEqual(['/near']);
    expect(await pathsOf('two', 1)).toEqual(['/deep']);
    expect(await pathsOf('two', 9)).toEqual(['/far']);
  });

  it('keeps a lease that was renewed', async () => {
    await add(found('/'));
    await store.leaseUrls({ jobId, token: 'slow', limit: 1, leaseMs: -1_000 });
    await store.renewLeases({ jobId, token: 'slow', leaseMs });
    await store.releaseEndedLeases(jobId);
    expect(await lease('other')).toEqual([]);
  });

  it('returns the stored response of a settled URL, and the first pages', async () => {
    await settleAll(store, jobId, ['/b', '/a', '/old', '/404', '/gone'], ({ id }, path) => {
      if (path === '/old') return { id, outcome: 'redirect', status: 301, redirectTo: found('/a').url };
      if (path === '/gone') return { id, outcome: 'missing', status: 404, reason: 'HTTP 404' };
      return file(id, `${path.slice(1)}.html`, { byteOffset: 3 });
    });
    await add(found('/queued'));
    const nothing = { redirectTo: null, contentType: null, objectKey: null, byteOffset: 0, byteLength: 0 };
    const stored = (path: string) => store.storedResponse(jobId, found(path).url);
    expect(await stored('/a')).toEqual({
      ...nothing,
      ...{
        outcome: 'file',
        status: 200,
        contentType: 'text/html',
        objectKey: 'segment',
        byteOffset: 3,
        byteLength: 10,
      },
    });
    const redirect = { outcome: 'redirect', status: 301, redirectTo: found('/a').url };
    expect(await stored('/old')).toEqual({ ...nothing, ...redirect });
    expect(await stored('/gone')).toEqual({ ...nothing, outcome: 'missing', status: 404 });
    expect([await stored('/queued'), await stored('/unknown')]).toEqual([undefined, undefined]);
    expect(await store.crawledPages(jobId, 9)).toEqual([found('/b').url, found('/a').url]);
    expect(await store.crawledPages(jobId, 1)).toEqual([found('/b').url]);
  });

  it('lists each notice once, ordered by URL', async () => {
    const notices = [
      { url: 'https://d.example/b', texts: ['slow'] },
      { url: null, texts: ['whole', 'whole'] },
      { url: 'https://d.example/a', texts: ['two', 'one'] },
      { url: 'https://d.example/b', texts: ['slow'] },
    ];
    for (const notice of notices) await store.addNotices({ jobId, ...notice });
    expect((await store.crawlFindings(findingsOf(jobId))).notices).toEqual([
      { url: null, text: 'whole' },
      { url: 'https://d.example/a', text: 'one' },
      { url: 'https://d.example/a', text: 'two' },
      { url: 'https://d.example/b', text: 'slow' },
    ]);
  });
}
