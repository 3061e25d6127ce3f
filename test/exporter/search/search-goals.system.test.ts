import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';
import type { Browser } from 'playwright-core';
import { readBundleHead } from '../../../bundle/read-bundle.ts';
import { exportReport } from '../../../contract/admin-api.ts';
import { bundleManifest } from '../../../contract/bundle.ts';
import { launchChromium } from '../../helpers/chromium.ts';
import { galley } from '../../helpers/galley.ts';
import { type SiteHandler, startHttpSite } from '../../helpers/http-site.ts';
import { staticHost } from '../sites/static-host.ts';
import { openReader, searchFor, serveArchive } from './searchable.ts';

/** `SEARCH_GOALS=all` searches every title, and exports the whole of the largest manual: about an hour. */
const isAll = process.env.SEARCH_GOALS === 'all';
const SAMPLE = isAll ? Number.POSITIVE_INFINITY : 40;
const MEASURED = isAll ? 40 : 8;
const MAX_TRANSFERRED_BYTES = 300_000;
const MIN_SHARE = 0.95;
const FIRST = 3;
/** Words that readers search, among them the most frequent ones of a manual. */
const WORDS = [
  'java string',
  'class interface method',
  'thread pool executor',
  'how to read a file line by line',
  'the',
];

/** `lacks`: files that its pages name, but its package lacks. */
type Manual = { name: string; package: string; folder: string; start?: string; slice?: RegExp; lacks?: RegExp };

const MANUALS: readonly Manual[] = [
  { name: 'PostgreSQL', package: 'postgresql-doc-15', folder: '/usr/share/doc/postgresql-doc-15/html' },
  { name: 'Git', package: 'git-doc', folder: '/usr/share/doc/git/html', start: 'git.html' },
  {
    name: 'Debian',
    package: 'debian-handbook',
    folder: '/usr/share/doc/debian-handbook/html',
    slice: /^\/(?:en-US|de-DE|ja-JP)\//,
  },
  {
    name: 'OpenJDK',
    package: 'openjdk-17-doc',
    folder: '/usr/share/doc/openjdk-17-jre-headless/api',
    slice: /^\/(?:[^/]*$|java\.base\/java\/(?:lang|util|io)\/[^/]*$|(?:resources|script-dir)\/)/,
    lacks: /\/resources\/fonts\/dejavu\.css/,
  },
];

type Page = { path: string; language: string; title: string };

let browser: Browser;
let folder: string;
beforeAll(async () => {
  [browser, folder] = await Promise.all([launchChromium(), mkdtemp(join(tmpdir(), 'galley-goals-'))]);
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

describe.each(MANUALS)('the search of the manual of $name', (manual) => {
  let site: Awaited<ReturnType<typeof serveArchive>>;
  let languages: Map<string, string>;
  let pages: Page[];

  beforeAll(async () => {
    if (!existsSync(manual.folder)) throw new Error(`${manual.folder} is missing. Run: npm run setup:system`);
    const origin = await startHttpSite(await manualHost(manual));
    const [file, report] = [join(folder, `${manual.name}.tar.gz`), join(folder, `${manual.name}.json`)];
    const options = ['--origin', origin.origin, '--out', file, '--report', report, '--search'];
    const { code, stderr } = await galley(['export', 'docs.example.com', ...options], {}, folder);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    await origin.close();
    const { search } = exportReport.parse(JSON.parse(await readFile(report, 'utf8')));
    expect(search).toMatchObject({ state: 'made', reason: null });
    languages = new Map(search?.languages.map(({ language, page }) => [language, page]));
    site = await serveArchive(await readFile(file));
    pages = await readPages(site.url, file);
  });

  afterAll(() => site?.close());

  it(`has pages with a unique title among the first ${FIRST} results`, async () => {
    const unique = withUniqueTitles(pages);
    const sample = evenly(unique, SAMPLE);
    const missed: string[] = [];
    const readers = new Map<string, Awaited<ReturnType<typeof openReader>>>();
    for (const { path, language, title } of sample) {
      const searchPage = languages.get(language) ?? [...languages.values()][0] ?? '';
      const reader = readers.get(searchPage) ?? (await openReader(browser, site));
      if (!readers.has(searchPage)) await reader.page.goto(`${site.url}/${searchPage}`);
      readers.set(searchPage, reader);
      const found = await searchFor(reader.page, title);
      if (!found.slice(0, FIRST).includes(`${site.url}/${path}`)) missed.push(`${path}: ${title}`);
    }
    const faults = [...readers.values()].flatMap((reader) => reader.faults);
    for (const reader of readers.values()) await reader.leave();
    note(
      `${manual.name}: ${pages.length} pages, ${unique.length} unique titles, ${sample.length - missed.length} of ${sample.length} found`,
    );
    // Chromium reports a missing file twice, once without its URL.
    const found = faults.filter((fault) => !fault.startsWith('Failed to load resource') && !manual.lacks?.test(fault));
    expect(found).toEqual([]);
    expect({ missed: missed.length <= sample.length * (1 - MIN_SHARE) ? [] : missed }).toEqual({ missed: [] });
  });

  it('transfers at most 300 kB for a query, the programs included', async () => {
    const titles = evenly(withUniqueTitles(pages), MEASURED).map(({ title }) => title);
    const sizes: Array<{ query: string; bytes: number }> = [];
    const [searchPage = ''] = languages.values();
    for (const query of [...titles, ...WORDS]) {
      const reader = await openReader(browser, site);
      await reader.page.goto(`${site.url}/${searchPage}`, { waitUntil: 'networkidle' });
      const before = await reader.transferredBytes();
      await searchFor(reader.page, query);
      sizes.push({ query, bytes: (await reader.transferredBytes()) - before });
      await reader.leave();
    }
    const bytes = sizes.map((size) => size.bytes).sort((a, b) => a - b);
    note(
      `${manual.name}: ${bytes.at(0)} to ${bytes.at(-1)} bytes a query, median ${bytes[Math.floor(bytes.length / 2)]}`,
    );
    expect(sizes.filter((size) => size.bytes > MAX_TRANSFERRED_BYTES)).toEqual([]);
  });
});

/** The figures are also in docs/guide/offline-search.md. */
function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A manual's folder. Without an index, its start page is another page, or lists its folders. */
async function manualHost({ folder: installed, start, slice }: Manual): Promise<SiteHandler> {
  const host = staticHost(await realpath(installed));
  return (request, response) => {
    const path = new URL(request.url ?? '/', 'http://host.invalid').pathname;
    if (path === '/' && !existsSync(join(installed, 'index.html'))) {
      const links = start === undefined ? ['en-US/', 'de-DE/', 'ja-JP/'] : [start];
      response.writeHead(200, { 'content-type': 'text/html' });
      return response.end(links.map((link) => `<a href="${link}">${link}</a>`).join(''));
    }
    const isLeftOut = !isAll && slice !== undefined && path !== '/' && !slice.test(path);
    return isLeftOut ? response.writeHead(404).end() : host(request, response);
  };
}

/** All pages of the bundle, as they are served. */
async function readPages(url: string, archive: string): Promise<Page[]> {
  const { manifest } = await readBundleHead(createReadStream(archive));
  const { files } = bundleManifest.parse(JSON.parse(manifest.toString('utf8')));
  const paths = files
    .map(({ path }) => path)
    .filter((path) => /\.x?html?$/.test(path) && !/404\.html|_search/.test(path));
  const pages: Page[] = [];
  for (const path of paths) {
    const page = describePage(await (await fetch(`${url}/${path}`)).text());
    if (page !== undefined) pages.push({ path, ...page });
  }
  return pages;
}

/** Undefined for a page that leads to another one. */
function describePage(html: string): Omit<Page, 'path'> | undefined {
  const found = { language: '', title: '', isRedirect: false, inTitle: false };
  const parser = new Parser({
    onopentag(name, { lang = '', 'http-equiv': kind = '' }) {
      if (name === 'html') found.language = lang.toLowerCase();
      if (name === 'title' && found.title === '') found.inTitle = true;
      if (kind.toLowerCase() === 'refresh') found.isRedirect = true;
    },
    ontext(text) {
      if (found.inTitle) found.title += text;
    },
    onclosetag(name) {
      if (name === 'title') found.inTitle = false;
    },
  });
  parser.end(html);
  const { language, title, isRedirect } = found;
  return isRedirect ? undefined : { language, title: title.replace(/\s+/g, ' ').trim() };
}

function withUniqueTitles(pages: readonly Page[]): Page[] {
  const key = ({ language, title }: Page): string => `${language} ${title.toLowerCase()}`;
  const counts = new Map<string, number>();
  for (const page of pages) counts.set(key(page), (counts.get(key(page)) ?? 0) + 1);
  return pages.filter((page) => page.title !== '' && counts.get(key(page)) === 1);
}

function evenly<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}
