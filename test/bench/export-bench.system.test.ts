import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RowResult } from '../../bench/export/figure.ts';
import { report } from '../../bench/export/report.ts';
import { runExportBench } from '../../bench/export/run-export-bench.ts';

/** Everything is started, and the product built where it isn't. */
const TIMEOUT_MS = 600_000;
const PAGES = 30;

/** What the bench and its programs make temporarily. */
let temporary: string;
let folder: string;
let before: string | undefined;
let results: RowResult[];
const told: string[] = [];

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'galley-export-bench-'));
  // PostgreSQL runs as another user where the tests run as root.
  await chmod(temporary, 0o755);
  folder = await mkdtemp(join(tmpdir(), 'galley-small-manual-'));
  before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  await mkdir(join(folder, 'chapters'));
  const links = Array.from({ length: PAGES - 1 }, (_, index) => `<a href="chapters/${index}.html">${index}</a>`);
  await writeFile(join(folder, 'index.html'), `<title>Manual</title><link rel="stylesheet" href="s.css">${links}`);
  await writeFile(join(folder, 's.css'), 'body { color: black }');
  for (let index = 0; index < PAGES - 1; index += 1) {
    await writeFile(join(folder, 'chapters', `${index}.html`), `<title>${index}</title><a href="../">home</a>`);
  }
  results = await runExportBench(
    {
      only: ['latency', 'incremental', 'requests'],
      // What has more than one worker costs a start of each and is the same code otherwise.
      ...{ runs: 1, pages: 100, workerPages: 50, objects: 'files' },
      manuals: { postgresql: folder, openjdk: folder },
    },
    { progress: (text) => void told.push(text) },
  );
}, TIMEOUT_MS);

afterAll(async () => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  for (const made of [temporary, folder]) await rm(made, { recursive: true, force: true });
});

test('every row of the export bench comes to figures, and the table names each with its goal', () => {
  const figures = results.flatMap((result) => result.figures);
  expect(figures.filter(({ value }) => !(value > 0 && Number.isFinite(value)))).toEqual([]);
  const table = report(results, 1);
  for (const { measure } of figures) expect(table).toContain(measure);
  expect(table).toMatch(/20 ms, against wget and tar +[\d.]+ s +[\d.]+ s +[\d.]+ +at most 1\/12/);
});

test('all contenders export all pages of the site', () => {
  const pages = told.flatMap(
    (line) => /ms: (galley|wget and tar|website-scraper): .*?, (\d+) pages/.exec(line)?.slice(1) ?? [],
  );
  expect(pages).toEqual(expect.arrayContaining(['galley', 'wget and tar', 'website-scraper']));
  expect(new Set(pages.filter((part) => /^\d+$/.test(part)))).toEqual(new Set([String(PAGES)]));
});

test('it is seen where the time of an export goes', () => {
  expect(told.some((line) => /beginExport [\d.]+, .*between [\d.]+/.test(line))).toBe(true);
});

test('nothing of the bench is left behind', async () => {
  expect(await readdir(temporary)).toEqual([]);
});
