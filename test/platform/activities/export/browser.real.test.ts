import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type BrowserPool, createBrowserPool } from '../../../../platform/activities/export/browser/browser-pool.ts';
import { type ExportedBundle, type ExportRig, startExportRig } from '../../../helpers/export-rig.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../../helpers/http-site.ts';
import { startPglite } from '../../../helpers/pglite.ts';
import { locateRealTool } from '../../../helpers/real-tool.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { appHost, buildClientApp, bundleHost } from './client-app.ts';

let rig: ExportRig;
let pool: BrowserPool;
let folder: string;
let visitor: Browser;
const closings: (() => Promise<void>)[] = [];

/** The browser's program with its processes' ids written down, so that a test can end it. */
async function tracedBrowser(): Promise<string> {
  const path = join(folder, 'browser');
  const program = await locateRealTool('chromium');
  await writeFile(path, `#!/bin/sh\necho $$ >> ${folder}/pids\nexec ${program} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

async function browserPids(): Promise<number[]> {
  const text = await readFile(join(folder, 'pids'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-browser-'));
  pool = createBrowserPool({
    path: await tracedBrowser(),
    sandbox: false,
    searchPath: process.env.PATH ?? '',
    logger: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    limits: { tabBytes: 400 * 1024 ** 2, pagesPerBrowser: 8, quietTimeoutMs: 4_000, pageTimeoutMs: 30_000 },
  });
  visitor = await chromium.launch({ executablePath: await locateRealTool('chromium'), args: ['--no-sandbox'] });
  rig = await startExportRig(await startPglite());
  await rig.startWorker({}, pool);
});

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

afterAll(async () => {
  await visitor?.close();
  await rig?.stop();
  await pool?.close();
  await rm(folder, { recursive: true, force: true });
});

async function startSite(...given: Parameters<typeof startHttpSite>): Promise<HttpSite> {
  const site = await startHttpSite(...given);
  closings.push(() => site.close());
  return site;
}

/** A page whose every failed request, error answer and error message is kept. */
async function watchedPage(): Promise<{ page: Page; faults: string[] }> {
  const page = await visitor.newPage();
  closings.unshift(() => page.close());
  const faults: string[] = [];
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The browser's word for what it no longer wants.
    if (reason !== 'net::ERR_ABORTED') faults.push(`${request.url()}: ${reason}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.url()}: ${response.status()}`);
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  return { page, faults };
}

const ROUTES = [
  ['/', 'index.html', 'Welcome'],
  ['/about', 'about.html', 'About us'],
  ['/users', 'users.html', 'Grace'],
  ['/users/1', 'users/1.html', 'Wrote the first program.'],
  ['/users/2', 'users/2.html', 'Wrote the first compiler.'],
] as const;

describe('an app that draws itself, exported with render: browser, its origin stopped', () => {
  let bundle: ExportedBundle;
  let requests: string[];

  beforeAll(async () => {
    const origin = await startHttpSite(appHost(await buildClientApp(folder)));
    bundle = await rig.run({ origin: origin.origin, settings: { render: 'browser' } });
    await origin.close();
    requests = origin.requests;
  });

  it('has every route as a page with its content, and the not-found page', () => {
    for (const [, path, text] of ROUTES) expect(bundle.files.get(path)).toContain(text);
    expect(bundle.files.get('404.html')).toContain('Nothing here');
    expect(bundle.report).toMatchObject({ brokenLinks: [], notices: [] });
    expect(bundle.row.pageCount).toBe(ROUTES.length);
  });

  it('asked its origin for each address once, pages and what they load alike', () => {
    const asked = requests.filter((url) => !/^\/(robots\.txt|sitemap\.xml)$/.test(url));
    expect(asked.filter((url, index) => asked.indexOf(url) !== index)).toEqual([]);
  });

  it('starts as its origin sent it where a page stands at its own address: data, router and back', async () => {
    const host = await startSite(bundleHost(bundle.files));
    const { page, faults } = await watchedPage();
    for (const [route, , text] of ROUTES) {
      await page.goto(host.origin + route);
      await page.locator('body.shell #app[data-v-app]').getByText(text).waitFor();
      expect(await page.locator('footer').count()).toBe(1);
    }
    await page.getByText('People').click();
    await page.getByText('Ada').click();
    await page.getByText('Wrote the first program.').waitFor();
    await page.goBack();
    await page.getByText('Grace').waitFor();
    await page.goto(`${host.origin}/never/linked`);
    await page.getByText('Nothing here').waitFor();
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
  });

  it('reads and links as drawn under a sub-path and from a folder', async () => {
    const host = await startSite(bundleHost(bundle.files, '/some/folder/'));
    const unpacked = join(folder, 'unpacked');
    for (const [path, text] of bundle.files) {
      await mkdir(dirname(join(unpacked, path)), { recursive: true });
      await writeFile(join(unpacked, path), text);
    }
    for (const start of [`${host.origin}/some/folder/index.html`, pathToFileURL(join(unpacked, 'index.html')).href]) {
      const { page, faults } = await watchedPage();
      await page.goto(start);
      await page.getByText('Welcome').waitFor();
      await page.getByText('People').click();
      await page.getByText('Grace').click();
      await page.getByText('Wrote the first compiler.').waitFor();
      expect(await page.locator('footer').count()).toBe(1);
      expect(await page.locator('script').count()).toBe(0);
      await page.getByText('About us').or(page.getByText('About')).first().click();
      await page.locator('.about').waitFor();
      expect(await page.evaluate('getComputedStyle(document.querySelector(".about")).color')).toBe('rgb(1, 2, 3)');
      expect(faults).toEqual([]);
    }
  });
});

it('leaves no script where the project strips them, and only the origin’s own where it keeps them', async () => {
  const page = `<!doctype html><div id="app"></div><script src="/app.js"></script>`;
  const script = `document.getElementById('app').textContent = 'Drawn';
    const more = document.createElement('script'); more.src = '/more.js'; document.head.append(more);`;
  const origin = await startSite(
    serveFiles({
      '/': page,
      '/app.js': { body: script, contentType: 'text/javascript' },
      '/more.js': { body: 'document.title = "More"', contentType: 'text/javascript' },
    }),
  );
  const of = async (scripts: string): Promise<string> => {
    const { files } = await rig.run({ origin: origin.origin, settings: { render: 'browser', scripts } });
    return files.get('index.html') ?? '';
  };
  const [stripped, kept] = await Promise.all([of('strip'), of('keep')]);
  expect(stripped).toContain('<title>More</title>');
  expect(stripped).toContain('Drawn');
  expect(stripped).not.toContain('<script');
  expect(kept.match(/<script[^>]*>/g)).toEqual(['<script src="app.js">']);
});

/** What a page's script may try; each ends in a notice about that page, and in a page. */
const HOSTILE = {
  away: ["location.href = 'http://PRIVATE/away'", /leaves the page for http:\/\/.*\/away/],
  blob: [
    "location.href = URL.createObjectURL(new Blob(['<h1>Another</h1>'], { type: 'text/html' }))",
    /left the page for blob:/,
  ],
  windows: ["open('http://PRIVATE/window'); open('/windows')", /opens a window for http:\/\/.*\/window/],
  fetching: ["fetch('http://PRIVATE/data')", /data could not be loaded: refused: .*not a public address/],
  redirected: ["fetch('/to-private')", /could not be loaded: refused/],
  picture: [
    "document.body.innerHTML += '<img src=http://PRIVATE/x.png><iframe src=http://PRIVATE/frame></iframe>'",
    /x\.png could not/,
  ],
  worker: [
    'new Worker(URL.createObjectURL(new Blob([\'importScripts("http://PRIVATE/worker.js")\'])))',
    /worker\.js could not be loaded: refused/,
  ],
  socket: ["new WebSocket('ws://PRIVATE/socket')", /opens a WebSocket/],
  dialogs: ["alert('one'); confirm('two')", /shows a dialog/],
  download: [
    "const a = document.createElement('a'); a.href = '/file'; a.download = 'x'; a.click()",
    /starts a download/,
  ],
  restless: ["setInterval(() => fetch('/data?' + Math.random()), 50)", /never came to rest/],
  endless: ['for (;;);', /could not be drawn.*did not end within/],
  greedy: [
    'const all = []; setInterval(() => all.push(new Uint8Array(1e8).fill(1)), 5)',
    /could not be drawn.*tab ended/,
  ],
  gone: ['document.documentElement.remove()', /could not be drawn.*left no page/],
} as const;

describe('pages that mean no good', () => {
  let bundle: ExportedBundle;
  let inside: HttpSite;

  beforeAll(async () => {
    inside = await startHttpSite((_request, response) => response.end('secret'));
    const names = Object.keys(HOSTILE);
    const files = Object.entries(HOSTILE).map(([name, [script]]) => {
      const text = script.replaceAll('PRIVATE', inside.host);
      return [`/${name}`, `<!doctype html><title>${name}</title><h1>Page ${name}</h1><script>${text}</script>`];
    });
    const origin = await startHttpSite(
      serveFiles({
        '/': names.map((name) => `<a href="/${name}">${name}</a>`).join(''),
        ...Object.fromEntries(files),
        '/to-private': { body: '', status: 302, headers: { location: `${inside.origin}/hop` } },
        '/file': { body: 'a file', contentType: 'application/zip' },
      }),
    );
    bundle = await rig.run({ origin: origin.origin, settings: { render: 'browser' } });
    await origin.close();
    await inside.close();
  });

  it.each(Object.entries(HOSTILE))('%s: contained, named in the report, and the page is there', (name, [, notice]) => {
    const told = bundle.report.notices.filter(({ url }) => url === `https://docs.example.com/${name}`);
    expect(told.map(({ text }) => text)).toContainEqual(expect.stringMatching(notice));
    expect(bundle.files.get(`${name}.html`)).toContain(`<h1>Page ${name}</h1>`);
  });

  it('reach nothing on a private address', () => {
    expect(inside.requests).toEqual([]);
  });
});

it('loses no page when its browser dies, and replaces a browser that has served its pages', async () => {
  const names = Array.from({ length: 14 }, (_, number) => `p${number}`);
  const draw = '<!doctype html><div id="a"></div><script>setTimeout(() => a.textContent = "Drawn", 300)</script>';
  const origin = await startSite(
    serveFiles({
      '/': names.map((name) => `<a href="/${name}">${name}</a>`).join(''),
      ...Object.fromEntries(names.map((name) => [`/${name}`, draw])),
    }),
  );
  const before = (await browserPids()).length;
  const jobId = await rig.start({ origin: origin.origin, settings: { render: 'browser' } });
  await waitFor(() => origin.requests.length > 6, { describe: 'pages are being drawn' });
  const pids = await browserPids();
  process.kill(pids.at(-1) ?? 0, 'SIGKILL');
  await rig.end(jobId);
  const { files, report } = await rig.read(jobId);
  for (const name of names) expect(files.get(`${name}.html`)).toContain('<div id="a">Drawn</div>');
  expect(report.notices).toEqual([]);
  expect((await browserPids()).length - before).toBeGreaterThan(1);
});

it('finds what scripts load on a visit of sample pages, and asks the origin once for all that the crawl had', async () => {
  const page = `<!doctype html><title>Site</title><script src="/app.js"></script><h1>Site</h1>
    <input type="search"><button aria-expanded="false">More</button><button aria-label="Dark theme">T</button>
    <p style="margin-top:3000px">End</p><a href="/two">two</a>`;
  const script = `const load = (...parts) => fetch('/' + parts.join('/') + '.json');
    addEventListener('DOMContentLoaded', () => {
      const on = (selector, event, then) => document.querySelector(selector).addEventListener(event, then);
      load('data', 'start');
      on('input', 'input', ({ target }) => load('index', target.value));
      on('button', 'click', () => load('data', 'menu'));
      on('[aria-label]', 'click', () => load('data', 'dark'));
      on('a', 'mouseover', () => load('data', 'hover'));
      new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && load('data', 'end')).observe(document.querySelector('p'));
      addEventListener('click', (event) => {
        if (event.target.tagName !== 'A') return;
        event.preventDefault();
        history.pushState(null, '', event.target.href);
        load('data', 'two');
      });
    });`;
  const json = { body: '{}', contentType: 'application/json' };
  const data = ['start', 'menu', 'dark', 'hover', 'end', 'two'].map((name) => `data/${name}.json`);
  const found = [...data, 'index/a.json', 'index/s.json'];
  const origin = await startSite(
    serveFiles({
      ...{ '/': page, '/two': page, '/app.js': { body: script, contentType: 'text/javascript' } },
      ...Object.fromEntries(found.map((path) => [`/${path}`, json])),
    }),
  );
  const { files, report } = await rig.run({ origin: origin.origin, settings: { discover: 'browser' } });
  expect([...files.keys()]).toEqual(expect.arrayContaining(found));
  expect(report.notices).toEqual([]);
  const counts = ['/', '/two', '/app.js'].map((path) => origin.requests.filter((url) => url === path).length);
  expect(counts).toEqual([1, 1, 1]);
});
