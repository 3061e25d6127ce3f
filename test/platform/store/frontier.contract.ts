import type { SettledUrl } from '../../../exporter/crawl-records.ts';
import {
  freezeCrawl,
  leaseBatches,
  releaseBatches,
  settleBatch,
  settledBatches,
} from '../../../platform/store/crawl-batches.ts';
import { getCrawl } from '../../../platform/store/crawls.ts';
import type { Database } from '../../../platform/store/database.ts';
import { failExportJob } from '../../../platform/store/export-job-transitions.ts';
import { getExportJob } from '../../../platform/store/export-jobs.ts';
import { countPages, frontierRest, settleUrls } from '../../../platform/store/frontier.ts';
import {
  giveBackUnasked,
  leaseUrls,
  releaseEndedLeases,
  releaseLeases,
  renewLeases,
} from '../../../platform/store/frontier-leases.ts';
import { mappedUrls, settledRows, writeFrozen } from '../../../platform/store/frontier-map.ts';
import { forgetCrawls } from '../../../platform/store/kept-crawls.ts';
import { found, leaseMs, type StoreFixture, useFrontier } from './store-fixture.ts';

function file(id: number, path: string): SettledUrl {
  const place = { objectKey: 'segment', byteOffset: 0, byteLength: 10, extractionLength: 2 };
  const kind = { status: 200, contentType: 'text/html', isPage: true, sha256: 'hash' };
  return { id, outcome: 'file', path, decodedBytes: 10, storedBytes: 12, ...place, ...kind };
}

/** What the frontier promises, on any database that the product runs on. */
export function frontierContract(stores: StoreFixture): void {
  const frontier = useFrontier(stores);
  const { add, lease } = frontier;
  let db: Database;
  let jobId: string;

  beforeEach(() => {
    ({ db, jobId } = frontier);
  });

  it('gives each address to one worker, oldest first', async () => {
    await add(...['/a', '/b', '/c'].map((path) => found(path)));
    const [one, two] = [await lease('one', 2), await lease('two', 2)];
    expect(one.map((row) => row.url).sort()).toEqual(['https://d.example/a', 'https://d.example/b']);
    expect(two.map((row) => row.url)).toEqual(['https://d.example/c']);
    expect(await lease('three')).toEqual([]);
    expect(await frontierRest(db, jobId)).toEqual({ queuedCount: 0, leased: true, dueInMs: null });
  });

  it('settles results, adds finds and leases some of them in one go, and counts', async () => {
    await add(found('/'));
    const [home] = await lease('one');
    const answer = await settleUrls(db, {
      jobId,
      token: 'one',
      leaseMs,
      settled: [file(home?.id ?? 0, 'index.html')],
      found: [found('/'), found('/a', { take: true }), found('/b'), found('/c', { skip: 'robots', rank: 0 })],
    });
    expect(answer).toMatchObject({ urlCount: 3, settledCount: 1 });
    expect(answer?.taken).toEqual([
      { id: expect.any(Number), url: 'https://d.example/a', rank: 5, depth: 1, attempts: 1 },
    ]);
    expect(await frontierRest(db, jobId)).toMatchObject({ queuedCount: 1, leased: true, dueInMs: 0 });
    expect(await countPages(db, jobId)).toBe(1);
    expect(await getCrawl(db, jobId)).toMatchObject({ rawBytes: 10, skippedCount: 1 });
  });

  it('settles an address for which the same report brings a stronger use', async () => {
    await add(found('/guess', { rank: 1 }));
    const [guess] = await lease('one');
    const settled = [file(guess?.id ?? 0, 'guess.html')];
    const stronger = [found('/guess', { rank: 4, take: true })];
    const answer = await settleUrls(db, { jobId, token: 'one', leaseMs, settled, found: stronger });
    expect(answer).toMatchObject({ urlCount: 1, settledCount: 1, taken: [] });
    expect(await frontierRest(db, jobId)).toEqual({ queuedCount: 0, leased: false, dueInMs: null });
    const rows = [];
    for await (const piece of settledRows(db, jobId)) rows.push(...piece);
    expect(rows).toMatchObject([{ rank: 4, outcome: 'file' }]);
  });

  it('ignores the results of a worker that lost its lease', async () => {
    await add(found('/'));
    const [row] = await lease('dead');
    await releaseLeases(db, jobId, ['dead']);
    const [again] = await lease('alive');
    expect(again).toMatchObject({ id: row?.id, attempts: 2 });
    const settled = [file(row?.id ?? 0, 'stale.html')];
    expect(await settleUrls(db, { jobId, token: 'dead', leaseMs, settled, found: [] })).toMatchObject({
      ...{ settledCount: 0, fileCount: 0, decodedBytes: 0, storedBytes: 0 },
    });
    expect(await frontierRest(db, jobId)).toMatchObject({ leased: true });
  });

  it('takes back what a worker held past its time', async () => {
    await add(found('/'));
    await leaseUrls(db, { jobId, token: 'slow', limit: 1, leaseMs: -1_000 });
    await releaseEndedLeases(db, jobId);
    expect(await lease('other')).toHaveLength(1);
  });

  it("takes the results of many workers that find each other's addresses without a deadlock", async () => {
    const names = Array.from({ length: 160 }, (_, index) => `/p/${String(index).padStart(3, '0')}`);
    await add(...names.map((name) => found(name, { rank: 1 })));
    const work = async (token: string): Promise<void> => {
      for (let leased = await lease(token, 8); leased.length > 0; leased = await lease(token, 8)) {
        const settled = leased.map(({ id, url }) => file(id, `${url.slice(-3)}.html`)).reverse();
        const all = names.map((name) => found(name, { rank: 5 }));
        await Promise.all([
          settleUrls(db, { jobId, token, leaseMs, settled, found: all }),
          renewLeases(db, { jobId, token, leaseMs: 4 * leaseMs }),
          releaseEndedLeases(db, jobId),
          giveBackUnasked(db, { jobId, token, ids: leased.map(({ id }) => id) }),
        ]);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(work));
    const count = names.length;
    const spent = { fileCount: count, decodedBytes: 10 * count, storedBytes: 12 * count };
    expect(await getCrawl(db, jobId)).toMatchObject({ urlCount: count, settledCount: count, ...spent });
  });

  it('leases a failed URL again only when it is due', async () => {
    await add(found('/now'), found('/later'));
    const rows = await lease('one');
    const settled = rows.map(({ id, url }) => {
      const dueInMs = url.endsWith('/now') ? 0 : 3_600_000;
      return { id, outcome: 'retry', dueInMs, reason: 'cut', status: 200, decodedBytes: 5 } as const;
    });
    const spent = { fileCount: 0, decodedBytes: 10, storedBytes: 0 };
    expect(await settleUrls(db, { jobId, token: 'one', leaseMs, settled, found: [] })).toMatchObject(spent);
    expect(await lease('one')).toMatchObject([{ url: 'https://d.example/now', attempts: 2 }]);
    const { dueInMs } = await frontierRest(db, jobId);
    expect(dueInMs).toBeGreaterThan(0);
    expect(dueInMs).toBeLessThanOrEqual(3_600_000);
  });

  it('keeps the strongest use of an address, and brings back a page that is needed as an asset', async () => {
    await add(found('/guess', { rank: 1 }), found('/left-out', { rank: 0, skip: 'robots' }));
    await add(found('/guess', { rank: 4 }), found('/left-out', { rank: 4 }));
    await add(found('/guess', { rank: 2 }));
    const leased = await lease('one');
    expect(leased.map(({ url, rank }) => [url, rank]).sort()).toEqual([
      ['https://d.example/guess', 4],
      ['https://d.example/left-out', 4],
    ]);
  });

  it('takes nothing more once the crawl is frozen or gone', async () => {
    await add(found('/'));
    await freezeCrawl(db, jobId, { batchCount: 0, pageCount: 0 });
    expect(await add(found('/late'))).toBeUndefined();
    await failExportJob(db, jobId, 'test');
    await forgetCrawls(db, (await getExportJob(db, jobId))?.projectId ?? '');
    expect(await add(found('/later'))).toBeUndefined();
    expect(await lease('one')).toEqual([]);
  });

  it('lets many workers report the same finds at once', async () => {
    const urls = Array.from({ length: 200 }, (_, index) => `/p${String(index).padStart(3, '0')}`);
    const reports = Array.from({ length: 8 }, (_, worker) =>
      settleUrls(db, {
        jobId,
        token: `w${worker}`,
        leaseMs,
        settled: [],
        found: urls.map((path) => found(path, { rank: 1 + (worker % 5), take: worker % 2 === 0 })),
      }),
    );
    const answers = await Promise.all(reports);
    const taken = answers.flatMap((answer) => answer?.taken ?? []);
    expect(new Set(taken.map((row) => row.url)).size).toBe(taken.length);
    expect((await getCrawl(db, jobId))?.urlCount).toBe(200);
  });

  it('keeps the frozen map and reads parts of it', async () => {
    await add(found('/'), found('/old'));
    const leased = await lease('one');
    const idOf = (path: string) => leased.find((row) => row.url.endsWith(path))?.id ?? 0;
    const redirect = {
      id: idOf('/old'),
      outcome: 'redirect',
      status: 301,
      redirectTo: 'https://d.example/#x',
    } as const;
    const settled = [file(idOf('e/'), 'index.html'), redirect];
    await settleUrls(db, { jobId, token: 'one', leaseMs, settled, found: [] });
    const rows = [];
    for await (const piece of settledRows(db, jobId)) rows.push(...piece);
    expect(rows.map((row) => row.outcome).sort()).toEqual(['file', 'redirect']);
    const at = { reason: null, path: 'index.html', redirectTo: 'https://d.example/#x', batch: null };
    await writeFrozen(db, [{ id: redirect.id, outcome: 'redirect', fragment: '#x', ...at }]);
    const part = [];
    for await (const piece of mappedUrls(db, jobId, ['https://d.example/old', 'https://d.example/none']))
      part.push(...piece);
    expect(part).toMatchObject([{ url: 'https://d.example/old', path: 'index.html', fragment: '#x' }]);
  });

  it('reads a map of more than one page whole, each address once', async () => {
    const names = Array.from({ length: 5_003 }, (_, index) => `/${index % 2 ? 'Ä' : 'z'}-${index}`);
    await add(...names.map((name) => found(name)));
    const urls = [];
    for await (const piece of mappedUrls(db, jobId)) urls.push(...piece.map(({ url }) => url));
    expect(urls.sort()).toEqual(names.map((name) => found(name).url).sort());
  });

  it('keeps one result of each batch, from its leaseholder', async () => {
    await freezeCrawl(db, jobId, { batchCount: 3, pageCount: 0 });
    const leaseOne = (token: string) => leaseBatches(db, { jobId, token, limit: 1, leaseMs });
    const empty = { filesJson: '[]', brokenJson: '{}', piecesJson: '[]', partsJson: null };
    const result = { objectKey: 'm', sizeBytes: 9, storedBytes: 5, pageCount: 0, ...empty };
    expect([await leaseOne('a'), await leaseOne('b'), await leaseOne('c'), await leaseOne('d')]).toEqual([
      [0],
      [1],
      [2],
      [],
    ]);
    await releaseBatches(db, jobId, ['a']);
    const spent = (storedBytes: number) => ({ fileCount: 0, decodedBytes: 0, storedBytes });
    expect(await leaseOne('d')).toEqual([0]);
    expect(await settleBatch(db, { jobId, token: 'a', batch: { ...result, number: 0 } })).toBeUndefined();
    expect(await settleBatch(db, { jobId, token: 'd', batch: { ...result, number: 0 } })).toEqual(spent(5));
    expect(await settleBatch(db, { jobId, token: 'c', batch: { ...result, number: 2 } })).toEqual(spent(10));
    const numbers = [];
    for await (const batch of settledBatches(db, jobId)) numbers.push(batch.number);
    expect(numbers).toEqual([0, 2]);
  });
}
