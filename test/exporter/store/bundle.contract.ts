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

const NONE = { rows: [], total: 0 };

/** The contract of a store from the end of the crawl to the report. */
export function bundleContract(fixture: CrawlStoreFixture): void {
  const crawl = useCrawl(fixture);
  let store: CrawlStore;
  let jobId: string;

  beforeEach(() => {
    ({ store, jobId } = crawl);
  });

  const settleFiles = (...paths: string[]) =>
    settleAll(store, jobId, paths, ({ id }, path) => file(id, `${path.slice(1)}.html`));

  /** A frozen crawl of two files in one batch each, a redirect, a missing page and a skipped page. */
  async function frozenSite(): Promise<void> {
    await settleAll(store, jobId, ['/a', '/b', '/old', '/gone'], ({ id }, path) => {
      if (path === '/old') return { id, outcome: 'redirect', status: 301, redirectTo: found('/a').url };
      if (path === '/gone') return { id, outcome: 'missing', status: 404, reason: 'HTTP 404' };
      return file(id, `${path.slice(1)}.html`, { byteOffset: path === '/a' ? 0 : 12 });
    });
    await crawl.add(found('/left-out', { skip: 'robots', rank: 0, foundOn: found('/a').url }));
    await freezeAll(store, jobId, ({ outcome, url }) => (outcome === 'file' ? Number(url.endsWith('/b')) : null));
  }

  it('freezes a crawl with every settled URL and the counts', async () => {
    await settleFiles('/a', '/b');
    await crawl.add(found('/queued'), found('/out', { skip: 'robots', rank: 0 }));
    let seen: unknown;
    await store.freeze(jobId, async ({ rows, ...counts }) => {
      seen = { counts, rows: (await listed(rows)).sort((a, b) => (a.url < b.url ? -1 : 1)) };
      return { frozen: [], batchCount: 2, pageCount: 7 };
    });
    const row = { id: expect.any(Number), rank: 5, reason: null, redirectTo: null, path: null, batch: null };
    const page = { ...row, outcome: 'file', status: 200, contentType: 'text/html', isPage: true, byteLength: 10 };
    expect(seen).toEqual({
      counts: expect.objectContaining({
        queuedCount: 1,
        leased: false,
        fileCount: 2,
        decodedBytes: 20,
        storedBytes: 24,
      }),
      rows: [
        { ...page, url: found('/a').url, sha256: 'hash' },
        { ...page, url: found('/b').url, sha256: 'hash' },
        {
          ...row,
          ...{ url: found('/out').url, rank: 0, outcome: 'skipped', reason: 'robots', status: null },
          ...{ contentType: null, isPage: false, byteLength: null, sha256: null },
        },
      ],
    });
    expect(await store.getCrawl(jobId)).toMatchObject({ phase: 'frozen', batchCount: 2, pageCount: 7 });
    expect(await store.batchProgress(jobId)).toEqual({ total: 2, settled: 0, free: 2 });
    await store.freeze(jobId, () => Promise.reject(new Error('decided twice')));
  });

  it('writes nothing if the decision fails, also after the store has read some of it', async () => {
    await settleFiles('/a');
    const failure = new Error('rejected');
    await expect(store.freeze(jobId, () => Promise.reject(failure))).rejects.toBe(failure);
    const failing = store.freeze(jobId, async ({ rows }) => {
      const [row] = await listed(rows);
      const decision = { id: row?.id ?? 0, outcome: 'missing', reason: 'half', redirectTo: null, path: null } as const;
      const frozen = (function* () {
        yield { ...decision, fragment: null, batch: null };
        throw failure;
      })();
      return { frozen, batchCount: 1, pageCount: 1 };
    });
    await expect(failing).rejects.toBe(failure);
    expect(await store.getCrawl(jobId)).toMatchObject({ phase: 'crawling', batchCount: 0 });
    expect(await freezeAll(store, jobId)).toMatchObject([{ outcome: 'file', reason: null }]);
  });

  it('accepts no changes of the crawl during the freeze', async () => {
    await crawl.add(found('/a'));
    const [leased] = await crawl.lease('one');
    const settled = [file(leased?.id ?? 0, 'a.html')];
    let late: Promise<unknown> | undefined;
    await store.freeze(jobId, async ({ rows }) => {
      late = store.settleUrls({ jobId, token: 'one', leaseMs, settled, found: [found('/late')] });
      expect(await listed(rows)).toEqual([]);
      return { frozen: [], batchCount: 0, pageCount: 0 };
    });
    expect(await late).toBeUndefined();
    expect(await store.getCrawl(jobId)).toMatchObject({ urlCount: 1, settledCount: 0 });
  });

  it('keeps the frozen map and reads parts of it', async () => {
    await frozenSite();
    const all = await listed(store.mappedUrls(jobId));
    expect(new Map(all.map(({ url, outcome, path }) => [new URL(url).pathname, [outcome, path]]))).toEqual(
      new Map([
        ['/a', ['file', 'a.html']],
        ['/b', ['file', 'b.html']],
        ['/old', ['redirect', 'old.html']],
        ['/gone', ['missing', null]],
        ['/left-out', ['skipped', null]],
      ]),
    );
    const redirectTo = found('/a').url;
    const part = await listed(store.mappedUrls(jobId, [found('/old').url, found('/none').url]));
    expect(part).toEqual([
      { url: found('/old').url, outcome: 'redirect', redirectTo, path: 'old.html', fragment: null },
    ]);
    expect(await listed(store.mappedRedirects(jobId))).toEqual([{ url: found('/old').url, redirectTo, status: 301 }]);
  });

  it('returns each URL of a map with more than one page once', async () => {
    const names = Array.from({ length: 5_003 }, (_, index) => `/${index % 2 ? 'Ä' : 'z'}-${index}`);
    await addTo(
      store,
      jobId,
      names.map((name) => found(name, { skip: 'robots', rank: 0 })),
    );
    const urls = (await listed(store.mappedUrls(jobId))).map(({ url }) => url);
    expect(urls.sort()).toEqual(names.map((name) => found(name).url).sort());
  });

  it('reads the files of one batch', async () => {
    await frozenSite();
    const place = { objectKey: 'segment', byteOffset: 12, byteLength: 10, extractionLength: 2 };
    const kind = { contentType: 'text/html', isPage: true, sha256: 'hash', linksOffset: null, linksLength: null };
    expect(await store.batchFiles(jobId, 1)).toEqual([{ url: found('/b').url, path: 'b.html', ...place, ...kind }]);
    expect(await store.batchFiles(jobId, 2)).toEqual([]);
  });

  it('finds paths with the names of precompressed files', async () => {
    await settleFiles('/b.GZ/x', '/a.br', '/plain', '/not.brx');
    await freezeAll(store, jobId, ({ url }) => (url.endsWith('/plain') ? null : 0));
    // All files of the fixture end in `.html`, so only a folder can have such a name.
    expect(await store.pathsMatching(jobId, '\\.(br|gz|zst)(/|$)')).toEqual(['b.GZ/x.html']);
  });

  it('keeps one result per batch, from its leaseholder', async () => {
    await store.freeze(jobId, async () => ({ frozen: [], batchCount: 3, pageCount: 0 }));
    const leaseOne = (token: string) => store.leaseBatches({ jobId, token, limit: 1, leaseMs });
    expect([await leaseOne('a'), await leaseOne('b'), await leaseOne('c'), await leaseOne('d')]).toEqual([
      [0],
      [1],
      [2],
      [],
    ]);
    await store.releaseLeases(jobId, ['a']);
    const spent = (storedBytes: number) => ({ fileCount: 0, decodedBytes: 0, storedBytes });
    expect(await leaseOne('d')).toEqual([0]);
    expect(await store.settleBatch({ jobId, token: 'a', batch: made(0) })).toBeUndefined();
    expect(await store.settleBatch({ jobId, token: 'd', batch: made(0) })).toEqual(spent(5));
    expect(await store.settleBatch({ jobId, token: 'c', batch: made(2) })).toEqual(spent(10));
    expect(await store.batchProgress(jobId)).toEqual({ total: 3, settled: 2, free: 0 });
    const numbers = [];
    for await (const batch of store.settledBatches(jobId)) numbers.push(batch.number);
    expect(numbers).toEqual([0, 2]);
  });

  it('counts the stored bytes of batches that several workers settle at the same time', async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index);
    await store.freeze(jobId, async () => ({ frozen: [], batchCount: numbers.length, pageCount: 0 }));
    for (const number of numbers) await store.leaseBatches({ jobId, token: `${number}`, limit: 1, leaseMs });
    const spent = await Promise.all(
      numbers.map((number) => store.settleBatch({ jobId, token: `${number}`, batch: made(number) })),
    );
    // Each adds its 5 bytes to what the others have stored by then.
    const totals = spent.map((each) => each?.storedBytes ?? 0).sort((a, b) => a - b);
    expect(totals).toEqual(numbers.map((number) => 5 * (number + 1)));
    expect(await store.batchProgress(jobId)).toEqual({ total: 12, settled: 12, free: 0 });
  });

  it('leases a batch to another worker after its lease has expired, unless it was renewed', async () => {
    await store.freeze(jobId, async () => ({ frozen: [], batchCount: 2, pageCount: 0 }));
    await store.leaseBatches({ jobId, token: 'slow', limit: 1, leaseMs: -1_000 });
    await store.leaseBatches({ jobId, token: 'alive', limit: 2, leaseMs: -1_000 });
    await store.renewLeases({ jobId, token: 'alive', leaseMs });
    expect(await store.batchProgress(jobId)).toEqual({ total: 2, settled: 0, free: 0 });
    await store.releaseLeases(jobId, ['alive']);
    await store.leaseBatches({ jobId, token: 'slow', limit: 1, leaseMs: -1_000 });
    expect(await store.batchProgress(jobId)).toEqual({ total: 2, settled: 0, free: 2 });
    expect(await store.leaseBatches({ jobId, token: 'other', limit: 9, leaseMs })).toEqual([0, 1]);
  });

  it('returns the texts of batches as they were settled', async () => {
    await store.freeze(jobId, async () => ({ frozen: [], batchCount: 2, pageCount: 0 }));
    await store.leaseBatches({ jobId, token: 'a', limit: 2, leaseMs });
    const broken = { brokenJson: '{"https://d.example/gone":[]}', filesJson: '[{"path":"ä.html"}]' };
    const [first, second] = [made(0, broken), made(1, { objectKey: null, partsJson: '[]', pageCount: 3 })];
    for (const batch of [second, first]) await store.settleBatch({ jobId, token: 'a', batch });
    const batches = [];
    for await (const batch of store.settledBatches(jobId)) batches.push(batch);
    const settled = [first, second].map(({ storedBytes: _, ...batch }) => batch);
    expect(batches).toMatchObject(settled);
    const named = [];
    for await (const batch of store.settledBatches(jobId, 1)) named.push(batch);
    expect(named).toMatchObject([settled[1]]);
  });

  it('finds URLs by outcome in the order of discovery, and their number', async () => {
    await frozenSite();
    const findings = await store.crawlFindings(findingsOf(jobId));
    const row = { rank: 5, redirectTo: null, reason: null, foundOn: null };
    expect(findings.missing).toEqual({
      rows: [{ ...row, url: found('/gone').url, status: 404, reason: 'HTTP 404' }],
      total: 1,
    });
    expect(findings.redirects).toEqual({
      rows: [{ ...row, url: found('/old').url, status: 301, redirectTo: found('/a').url }],
      total: 1,
    });
    expect(findings.skipped.rows).toMatchObject([{ reason: 'robots', foundOn: found('/a').url }]);
    const strong = await store.crawlFindings({ ...findingsOf(jobId), minRank: 6 });
    expect([strong.missing, strong.redirects, strong.skipped.total]).toEqual([NONE, NONE, 1]);
  });

  it('lists the files that were not read', async () => {
    const unread = { reason: 'it nests too deep' };
    await settleAll(store, jobId, ['/a', '/b'], ({ id }, path) =>
      file(id, `${path}.html`, path === '/b' ? unread : {}),
    );
    const findings = await store.crawlFindings(findingsOf(jobId));
    expect(findings.unread).toMatchObject({ rows: [{ url: found('/b').url, ...unread }], total: 1 });
  });

  it('lists no more URLs than asked for, and counts all', async () => {
    const skipped = (path: string) => found(path, { skip: 'robots', rank: 0 });
    await crawl.add(skipped('/c'), skipped('/a'), skipped('/b'));
    const { skipped: listedUrls } = await store.crawlFindings({ ...findingsOf(jobId), limit: 2 });
    expect(listedUrls).toMatchObject({ rows: [{ url: found('/c').url }, { url: found('/a').url }], total: 3 });
  });
}
