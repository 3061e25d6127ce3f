import { judgeCrawl } from '../../../exporter/assemble/freeze-export.ts';
import { divideIntoBatches, divideIntoPieces } from '../../../exporter/assemble/pieces.ts';
import { planBundle } from '../../../exporter/assemble/plan-bundle.ts';
import type { SettledRow } from '../../../exporter/crawl-records.ts';
import { rankOf } from '../../../exporter/urls/resource-rank.ts';
import fc from '../../helpers/fast-check.ts';
import { exportSettings as settings } from './export-settings.ts';

const HOME = 'https://docs.example.com';
const site = { domain: 'docs.example.com', origin: HOME };
const limits = { pieceBytes: 400_000, batchFiles: 2, batchBytes: 1_000, maxBufferedBytes: 1_500 };
const options = { site, notFoundUrl: `${HOME}/404.html`, ...limits };
let id = 0;

function row(path: string, change: Partial<SettledRow> = {}): SettledRow {
  id += 1;
  return {
    id,
    url: `${HOME}${path}`,
    rank: rankOf('page'),
    outcome: 'file',
    status: 200,
    reason: null,
    redirectTo: null,
    contentType: 'text/html',
    isPage: true,
    byteLength: 10,
    path: null,
    batch: null,
    sha256: `hash of ${path}`,
    ...change,
  };
}

const redirect = (from: string, to: string) =>
  row(from, {
    outcome: 'redirect',
    status: 301,
    redirectTo: `${HOME}${to}`,
    contentType: null,
    sha256: null,
    isPage: false,
  });
const missing = (path: string, change: Partial<SettledRow> = {}) =>
  row(path, {
    outcome: 'missing',
    status: 404,
    reason: 'HTTP 404',
    contentType: null,
    sha256: null,
    isPage: false,
    ...change,
  });

async function planned(rows: SettledRow[]) {
  const plan = await planBundle(rows, options);
  const decided = new Map([...plan.frozen].map((each) => [each.id, each]));
  return { ...plan, of: ({ id }: SettledRow) => decided.get(id) };
}

describe('planBundle', () => {
  it('is independent of the order of the responses', async () => {
    const rows = [
      row('/'),
      row('/A'),
      row('/a'),
      row('/guide/'),
      row('/guide/index.html'),
      row('/guide'),
      redirect('/old', '/a'),
      row('/404.html'),
      missing('/gone'),
    ];
    const key = async (all: SettledRow[]) =>
      [...(await planBundle(all, options)).frozen]
        .map(({ id: row, path, batch, outcome }) => `${row} ${path} ${batch} ${outcome}`)
        .sort();
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(rows, { minLength: rows.length }), async (shuffled) => {
        expect(await key(shuffled)).toEqual(await key(rows));
      }),
    );
  });

  it('resolves redirects to their final page, with the last fragment', async () => {
    const [page, first, second, outside] = [
      row('/new'),
      redirect('/a', '/b#one'),
      redirect('/b', '/new'),
      redirect('/out', '/nowhere-known'),
    ];
    const plan = await planned([page, first, second, outside]);
    expect(plan.of(first)).toMatchObject({
      path: 'new.html',
      fragment: '#one',
      redirectTo: `${HOME}/new#one`,
      batch: null,
    });
    expect(plan.of(outside)).toMatchObject({ path: null, redirectTo: `${HOME}/nowhere-known` });
  });

  it('treats a redirect loop, and a redirect to a missing page, as missing', async () => {
    const [loop, back, dead, gone] = [
      redirect('/loop', '/back'),
      redirect('/back', '/loop'),
      redirect('/dead', '/gone'),
      missing('/gone'),
    ];
    const plan = await planned([loop, back, dead, gone]);
    expect(plan.of(loop)).toMatchObject({ outcome: 'missing', reason: expect.stringContaining('redirects') });
    expect(plan.of(dead)).toMatchObject({ outcome: 'missing', reason: expect.stringContaining('HTTP 404') });
  });

  it('writes only files whose batch or path has changed', async () => {
    const stays = row('/', { path: 'index.html', batch: 1 });
    const [movesOn, renamed] = [row('/a', { path: 'a.html', batch: 5 }), row('/b', { path: 'b.html.html', batch: 0 })];
    const plan = await planned([stays, movesOn, renamed]);
    expect(plan.of(stays)).toBeUndefined();
    expect(plan.of(movesOn)).toMatchObject({ path: 'a.html', batch: 0 });
    expect(plan.of(renamed)).toMatchObject({ path: 'b.html', batch: 0 });
  });

  it('stores two URLs with the same path and content as one file, and counts it once', async () => {
    const both = [row('/guide/', { sha256: 'same' }), row('/guide/index.html', { sha256: 'same' })];
    const plan = await planned(both);
    expect(plan.pageCount).toBe(1);
    expect(both.map((each) => plan.of(each)?.path)).toEqual(['guide/index.html', 'guide/index.html']);
    expect(both.flatMap((each) => plan.of(each)?.batch ?? [])).toEqual([0]);
  });

  it('drops guesses from scripts that no reference confirms', async () => {
    const guess = row('/chunk.js', { rank: rankOf('probe') });
    const plan = await planned([row('/'), guess]);
    expect(plan.of(guess)).toMatchObject({ outcome: 'missing', path: null });
    const [page, unlinked] = [row('/state', { rank: rankOf('probe') }), row('/other', { rank: rankOf('guess') })];
    const sameAsNotFound = { rank: rankOf('guess'), sha256: 'hash of /404.html' };
    const wrong = row('/no/page', sameAsNotFound);
    const image = row('/no/image.png', { ...sameAsNotFound, contentType: 'text/html' });
    const all = await planned([row('/'), row('/404.html'), page, unlinked, wrong, image]);
    expect([page, unlinked].map((each) => all.of(each)?.path)).toEqual(['state.html', 'other.html']);
    expect([wrong, image].map((each) => all.of(each)?.outcome)).toEqual(['missing', 'missing']);
  });
});

const sized = (sizes: number[]) => sizes.map((byteLength, index) => ({ path: `f${index}`, byteLength }));

describe('divideIntoBatches', () => {
  it('respects both limits, leaves no batch empty, and gives a streamed file its own batch', () => {
    expect(divideIntoBatches(sized([10, 10, 10, 2_000, 10, 995]), limits)).toEqual([0, 0, 1, 2, 3, 4]);
    expect(divideIntoBatches([], limits)).toEqual([]);
  });

  it('never divides a piece', () => {
    const files = fc.array(fc.record({ path: fc.string({ minLength: 1 }), byteLength: fc.nat(9_000) }));
    const wide = { pieceBytes: 8_000, batchFiles: 5, batchBytes: 20_000, maxBufferedBytes: 9_000 };
    fc.assert(
      fc.property(files, (all) => {
        const batches = divideIntoBatches(all, wide);
        let at = 0;
        for (const piece of divideIntoPieces(all, wide)) {
          expect(new Set(batches.slice(at, at + piece.length)).size).toBe(1);
          at += piece.length;
        }
        expect(at).toBe(all.length);
      }),
    );
  });
});

describe('divideIntoPieces', () => {
  const files = Array.from({ length: 3_000 }, (_, index) => ({ path: `page-${index}.html`, byteLength: 2_000 }));
  const real = { pieceBytes: 65_536, batchFiles: 256, batchBytes: 4_194_304, maxBufferedBytes: 16_777_216 };
  const keys = (pieces: Array<typeof files>) => pieces.map((piece) => piece.map(({ path }) => path).join());

  it('makes pieces of about the configured size', () => {
    const pieces = divideIntoPieces(files, real);
    const meanBytes = (files.length * 2_000) / pieces.length;
    expect(meanBytes).toBeGreaterThan(real.pieceBytes / 2);
    expect(meanBytes).toBeLessThan(real.pieceBytes * 2);
  });

  it('changes at most three pieces when a file is added, removed or grows', () => {
    const before = new Set(keys(divideIntoPieces(files, real)));
    const changes = [
      files.toSpliced(1_000, 1),
      files.toSpliced(1_000, 0, { path: 'new.html', byteLength: 30_000 }),
      files.toSpliced(1_000, 1, { path: 'page-1000.html', byteLength: 500_000 }),
    ];
    for (const changed of changes) {
      const after = keys(divideIntoPieces(changed, real));
      expect(after.filter((key) => !before.has(key)).length).toBeLessThanOrEqual(3);
    }
  });
});

describe('judgeCrawl', () => {
  it('accepts a site with a few broken pages', () => {
    const pages = Array.from({ length: 50 }, (_, index) => row(`/${index}`));
    expect(judgeCrawl([row('/'), ...pages, missing('/a', { status: 500 }), missing('/b')], settings)).toBeUndefined();
  });

  it('rejects a site whose origin failed for many pages', () => {
    const pages = Array.from({ length: 50 }, (_, index) => row(`/${index}`));
    const dead = Array.from({ length: 20 }, (_, index) =>
      missing(`/dead${index}`, { status: null, reason: 'ECONNREFUSED' }),
    );
    expect(judgeCrawl([row('/'), ...pages, ...dead], settings)).toMatch(/did not respond for 20 of 71 pages/);
  });

  it('requires the start page, or one of the requested paths', () => {
    expect(judgeCrawl([missing('/')], settings)).toMatch(/start page .*HTTP 404/);
    expect(judgeCrawl([], settings)).toMatch(/not fetched/);
    const partial = { ...settings, pages: [`${HOME}/a`, `${HOME}/b`] };
    expect(judgeCrawl([row('/a'), missing('/b')], partial)).toBeUndefined();
    expect(judgeCrawl([missing('/a'), missing('/b')], partial)).toMatch(/None of the paths/);
  });
});
