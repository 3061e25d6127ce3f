import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { createS3Target } from '../../../activities/deployments/targets/s3.ts';
import { startNginx } from '../../../bench/export/nginx-site.ts';
import { s3Target } from '../../../contract/target-kind.ts';
import { deployTo, deployToFolder, documentedServer } from '../../activities/deployments/targets/deploy-to-folder.ts';
import { launchChromium, problemsOf } from '../../helpers/chromium.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { startS3 } from '../../helpers/s3.ts';
import { createCleanups } from '../../helpers/system/cleanups.ts';
import { makeSearchable, openReader, type Reader, type Searchable, searchFor } from './searchable.ts';

const POLICY =
  "<meta http-equiv=\"content-security-policy\" content=\"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'none'\">";
const page = (lang: string, title: string, text: string, head = '') =>
  `<!DOCTYPE html><html lang="${lang}"><head>${head}<meta name="viewport" content="width=device-width">` +
  `<title>${title} | Handbook</title></head><body><header><a href="/">Handbook</a></header>` +
  `<main><h1>${title}</h1><p>${text}</p></main><footer>Imprint</footer></body></html>`;

/** The keys that the site handles itself. */
const OWN_KEYS = `addEventListener('keydown', (event) => {
  if (event.key === '/') { event.preventDefault(); document.title = 'own slash'; }
});
document.addEventListener('keydown', (event) => { if (event.key === 'k' && event.ctrlKey) document.querySelector('input').focus(); });`;

const links = ['/guide/install', '/guide/typing', '/own', '/de/', '/strict/'].map((path) => `<a href="${path}"></a>`);
const PAGES = {
  '/': page('en', 'Start', `Welcome ${links.join('')}`),
  '/guide/install': page('en', 'Install', 'Unpack the <b>archive</b> & read on: &lt;img src=x onerror=alert(1)&gt;'),
  '/guide/typing': page('en', 'Typing', '<input aria-label="Name"><div contenteditable id="note">note</div>'),
  '/own': page('en', 'Own keys', `<input aria-label="Own"><script>${OWN_KEYS}</script>`),
  '/de/': page('de', 'Anfang', 'Willkommen <a href="/de/aufbau"></a>'),
  '/de/aufbau': page('de', 'Aufbau', 'Das Archiv auspacken'),
  '/strict/': page('fr', 'Archives', 'Une page stricte', POLICY),
};

/** Tells by the title that a page is left: the event comes with the key. */
const MARK_LEAVING = "navigation.addEventListener('navigate', () => { document.title = 'left'; })";

let browser: Browser;
let origin: HttpSite;
let site: Searchable;
let reader: Reader;

beforeAll(async () => {
  origin = await startHttpSite(serveFiles(PAGES));
  [browser, site] = await Promise.all([launchChromium(), makeSearchable(origin.origin, { markdown: 'on' })]);
  // Nothing may need the origin.
  await origin.close();
});

beforeEach(async () => {
  reader = await openReader(browser, site);
});

afterEach(() => reader.leave());

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Opens the search from a page by its key, and finds a page. */
async function searchAt(url: string, page: string): Promise<void> {
  const there = await openReader(browser, { url });
  await there.page.goto(url + page);
  await there.page.keyboard.press('/');
  await there.page.waitForURL('**/_search*');
  expect(await searchFor(there.page, 'unpack')).toEqual([`${url}/guide/install.html`]);
  expect(there.faults).toEqual([]);
  await there.leave();
}

it('works from a folder that nginx serves, beside the pages in Markdown', async () => {
  const cleanups = createCleanups();
  const folder = await mkdtemp(join(tmpdir(), 'galley-folder-'));
  try {
    await deployToFolder(folder, site.archive, 1);
    const lifetime = cleanups;
    const nginx = await startNginx({ folder, lifetime, serverOn: (port) => documentedServer(folder, port) });
    await searchAt(nginx.origin, '/guide/install');
    const twin = await fetch(`${nginx.origin}/guide/install.html.md`);
    expect([twin.status, await twin.text()]).toEqual([200, expect.stringContaining('# Install')]);
  } finally {
    await cleanups.run();
    await rm(folder, { recursive: true, force: true });
  }
});

it('works from a bucket that anyone may read', async () => {
  const server = await startS3();
  const folder = await mkdtemp(join(tmpdir(), 'galley-staging-'));
  try {
    await server.letAnyoneRead();
    await deployTo(createS3Target(s3Target({ url: server.url, ...server.credentials }), folder), site.archive, 1);
    await searchAt(server.bucketOrigin, '/guide/install.html');
    const twin = await fetch(`${server.endpoint}/galley-bundles/guide/install.html.md`);
    expect([twin.status, await twin.text()]).toEqual([200, expect.stringContaining('# Install')]);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

describe('a search page', () => {
  it.each([
    ['/', 'unpack', '/guide/install', 'en'],
    ['/de/aufbau', 'auspacken', '/de/aufbau', 'de'],
  ])(
    'is opened from %s by / and Ctrl-K, and finds the pages of its language',
    async (start, query, found, language) => {
      for (const key of ['/', 'Control+k']) {
        await reader.page.goto(site.url + start);
        await reader.page.keyboard.press(key);
        await reader.page.waitForURL('**/_search*');
        expect(await reader.page.evaluate('document.documentElement.lang')).toBe(language);
        const results = await searchFor(reader.page, query);
        expect(results).toEqual([`${site.url}${found}.html`]);
      }
      expect(reader.faults).toEqual([]);
    },
  );

  it('is used by keyboard, announces its results, and leads to them', async () => {
    const { page } = reader;
    await page.goto(`${site.url}/_search`);
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('archive');
    await page.getByRole('status').filter({ hasText: '1 result for “archive”' }).waitFor();
    expect(new URL(page.url()).search).toBe('?q=archive');
    expect(await page.locator('li p').innerHTML()).toContain('<mark>archive</mark>');
    expect(await page.locator('li img').count()).toBe(0);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/guide/install*');
    expect(await page.locator('h1').textContent()).toBe('Install');
    await page.goBack();
    await page.getByRole('status').filter({ hasText: '1 result for “archive”' }).waitFor();
    expect(reader.faults).toEqual([]);
  });

  it('has the layout of the start page, on a desktop and on a phone, and is accessible', async () => {
    const { page } = reader;
    await page.goto(`${site.url}/_search?q=archive`);
    await page.locator('li').first().waitFor();
    expect(await page.locator('header').textContent()).toBe('Handbook');
    expect(await page.locator('footer').textContent()).toBe('Imprint');
    // That content is inside a landmark is the site's own layout.
    expect((await problemsOf(page, 'search')).filter((problem) => !problem.includes(': region '))).toEqual([]);
  });

  it('works under the policy of its page', async () => {
    const { page } = reader;
    await page.goto(`${site.url}/strict/_search`);
    expect(await searchFor(page, 'stricte')).toEqual([`${site.url}/strict/index.html`]);
    expect(reader.faults).toEqual([]);
  });

  it('finds nothing without an error, and says so', async () => {
    await reader.page.goto(`${site.url}/_search`);
    expect(await searchFor(reader.page, 'quokka')).toEqual([]);
    expect(await reader.page.getByRole('status').textContent()).toBe('No results for “quokka”');
    expect(reader.faults).toEqual([]);
  });
});

describe('the keys', () => {
  it.each(['input', '#note'])('stay those of a field (%s)', async (field) => {
    const { page } = reader;
    await page.goto(`${site.url}/guide/typing`);
    await page.locator(field).focus();
    await page.evaluate(MARK_LEAVING);
    await page.keyboard.press('/');
    await page.keyboard.press('Control+k');
    expect(await page.title()).toBe('Typing | Handbook');
  });

  it('stay those of a site that handles them', async () => {
    const { page } = reader;
    await page.goto(`${site.url}/own`);
    await page.keyboard.press('/');
    expect(await page.title()).toBe('own slash');
    await page.keyboard.press('Control+k');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Own');
    expect(new URL(page.url()).pathname).toBe('/own');
  });
});

describe('the files of a search', () => {
  it('are served with their types, compressed, and revalidated', async () => {
    const get = async (path: string) => {
      const response = await fetch(`${site.url}/${path}`, { headers: { 'accept-encoding': 'gzip' } });
      await response.arrayBuffer();
      return ['content-type', 'content-encoding', 'cache-control'].map((name) => response.headers.get(name));
    };
    expect(await get('_pagefind/pagefind.js')).toEqual(['text/javascript; charset=utf-8', 'gzip', 'no-cache']);
    const [meta] = site.manifest.files.filter(({ path }) => path.endsWith('.pf_meta'));
    expect(await get(meta?.path ?? '')).toEqual(['application/octet-stream', null, 'no-cache']);
  });

  it('say in a folder that they need a server', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'galley-search-'));
    for (const path of [
      '_search.html',
      '_pagefind/shortcut.js',
      '_pagefind/search.js',
      '_pagefind/search.css',
      'index.html',
    ]) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), site.files.get(path) ?? '');
    }
    const { page } = await openReader(browser, { url: 'file://' });
    await page.goto(pathToFileURL(join(folder, 'index.html')).href);
    await page.evaluate(MARK_LEAVING);
    await page.keyboard.press('/');
    expect(await page.title()).toBe('Start | Handbook');
    await page.goto(pathToFileURL(join(folder, '_search.html')).href);
    expect(await page.getByRole('status').textContent()).toMatch(/needs JavaScript and a web server/);
    expect(await page.getByRole('searchbox').isVisible()).toBe(false);
    await page.context().close();
    await rm(folder, { recursive: true, force: true });
  });
});
