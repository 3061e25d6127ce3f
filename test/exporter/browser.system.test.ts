import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { type Browser, chromium } from 'playwright-core';
import type { BrowserLimits } from '../../exporter/limits.ts';
import type { Renderer } from '../../exporter/ports.ts';
import { BrowserPool } from '../../exporter/render/browser-pool.ts';
import { type ExportedBundle, type ExportRig, startExportRig } from '../helpers/export-rig.ts';
import { type HttpSite, type SiteHandler, serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { createDatabase } from '../helpers/test-database.ts';
import { appHost, buildClientApp, bundleHost } from './client-app.ts';
import { HOSTILE, hostileSite } from './render/hostile-pages.ts';
import { LOADED_BY_SCRIPTS, NEVER_ASKED, scriptedSite } from './render/scripted-site.ts';
import { BROWSER_ARGUMENTS, openVisitor, type Visitor } from './sites/visitor.ts';

let rig: ExportRig;
const pools: Renderer[] = [];
let folder: string;
let visitor: Browser;
let exports: ReturnType<typeof beginExports>;
const closings: (() => Promise<void>)[] = [];

type Exported = { bundle: ExportedBundle; requests: readonly string[] };

/** A wrapper of the browser that records its process ids, so that a test can kill it. */
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
  const building = buildClientApp(folder);
  building.catch(() => undefined);
  visitor = await chromium.launch({ executablePath: await locateRealTool('chromium'), args: BROWSER_ARGUMENTS });
  rig = await startExportRig(await createDatabase());
  exports = beginExports(building);
});

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

afterAll(async () => {
  await Promise.allSettled(Object.values(exports ?? {}));
  await visitor?.close();
  await rig?.stop();
  await Promise.all(pools.map((pool) => pool.close()));
  await rm(folder, { recursive: true, force: true });
});

/** A worker whose browser has these limits. */
async function startWorker(limits: Partial<BrowserLimits>): Promise<{ stop(): Promise<void> }> {
  const pool = new BrowserPool({
    path: await tracedBrowser(),
    sandbox: false,
    searchPath: process.env.PATH ?? '',
    logger: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    limits: { tabBytes: 400 * 1024 ** 2, pagesPerBrowser: 8, ...limits },
  });
  pools.push(pool);
  return rig.startWorker({}, pool);
}

async function startSite(...given: Parameters<typeof startHttpSite>): Promise<HttpSite> {
  const site = await startHttpSite(...given);
  closings.push(() => site.close());
  return site;
}

/** A page of the test's own browser that records its errors. */
async function watchedPage(): Promise<Visitor> {
  const watched = await openVisitor(visitor);
  closings.unshift(watched.leave);
  return watched;
}

/** Exports the site that a handler serves. Its origin is stopped before the test reads the bundle. */
async function exported(handler: SiteHandler, settings: Record<string, unknown>): Promise<Exported> {
  const origin = await startHttpSite(handler);
  const bundle = await rig.run({ origin: origin.origin, settings }).finally(() => origin.close());
  return { bundle, requests: origin.requests };
}

async function exportDrawing(scripts: string): Promise<string> {
  const { bundle } = await exported(drawingSite(), { render: 'browser', scripts });
  expect(bundle.report.notices).toEqual([]);
  return bundle.files.get('index.html') ?? '';
}

async function exportHostile() {
  const inside = await startHttpSite((_request, response) => response.end('secret'));
  const { bundle } = await exported(hostileSite(inside.host), { render: 'browser' });
  await inside.close();
  return { bundle, inside: inside.requests };
}

/** Long enough for harmless pages on a busy machine. */
const LONG_LIMITS = { loadTimeoutMs: 60_000, quietTimeoutMs: 60_000, pageTimeoutMs: 180_000 };
/** Short, because hostile pages that never become quiet use up this time. */
const SHORT_LIMITS = { quietTimeoutMs: 4_000 };

/**
 * Runs all exports at once, because they mostly wait. Only the hostile pages come last, because they may crash the
 * browser.
 */
function beginExports(building: Promise<string>) {
  const patient = startWorker(LONG_LIMITS);
  const app = building.then((built) => exported(appHost(built), { render: 'browser' }));
  const drawing = Promise.all([exportDrawing('strip'), exportDrawing('keep')]);
  const scripted = exported(scriptedSite(), { discover: 'browser' });
  const hostile = Promise.allSettled([app, drawing, scripted]).then(async () => {
    await (await patient).stop();
    const hasty = await startWorker(SHORT_LIMITS);
    const outcome = await exportHostile();
    await hasty.stop();
    await startWorker(LONG_LIMITS);
    return outcome;
  });
  for (const each of [app, drawing, scripted, hostile]) each.catch(() => undefined);
  return { app, drawing, scripted, hostile };
}

const ROUTES = [
  ['/', 'index.html', 'Welcome'],
  ['/about', 'about.html', 'About us'],
  ['/users', 'users.html', 'Grace'],
  ['/users/1', 'users/1.html', 'Wrote the first program.'],
  ['/users/2', 'users/2.html', 'Wrote the first compiler.'],
] as const;

describe('a client-rendered app, exported with render: browser, after its origin has stopped', () => {
  let bundle: ExportedBundle;
  let requests: readonly string[];

  beforeAll(async () => {
    ({ bundle, requests } = await exports.app);
  });

  it('has every route as a page with its content, and the not-found page', () => {
    for (const [, path, text] of ROUTES) expect(bundle.files.get(path)).toContain(text);
    expect(bundle.files.get('404.html')).toContain('Nothing here');
    expect(bundle.report).toMatchObject({ brokenLinks: [], notices: [] });
    expect(bundle.row.pageCount).toBe(ROUTES.length);
  });

  it('requested each page and each resource from its origin once', () => {
    const requested = requests.filter((url) => !/^\/(robots\.txt|sitemap\.xml)$/.test(url));
    expect(requested.filter((url, index) => requested.indexOf(url) !== index)).toEqual([]);
  });

  it('starts as at its origin when a page has its original URL, with data, router and history', async () => {
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

  it('shows the rendered pages and their links under a sub-path and from a folder', async () => {
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

it('removes all scripts with strip, and keeps only the origin’s own scripts with keep', async () => {
  const [stripped, kept] = await exports.drawing;
  expect(stripped).toContain('<title>More</title>');
  expect(stripped).toContain('Drawn');
  expect(stripped).not.toContain('<script');
  expect(kept.match(/<script[^>]*>/g)).toEqual(['<script src="app.js">']);
});

it('renders a page with the styles that its headers name, and doesn’t follow their refresh', async () => {
  for (const page of await exports.drawing) {
    expect(page).toContain('Drawn in order 7');
    expect(page.match(/<link [^>]*>/g)).toEqual(['<link rel="stylesheet" href="style.css">']);
    expect(page.match(/<meta http-equiv="refresh"[^>]*>/g)).toHaveLength(1);
  }
});

describe('hostile pages', () => {
  let bundle: ExportedBundle;
  let inside: readonly string[];

  beforeAll(async () => {
    ({ bundle, inside } = await exports.hostile);
  });

  it.each(Object.entries(HOSTILE))('%s: contained, reported, and the page is exported', (name, [, notice]) => {
    const notices = bundle.report.notices.filter(({ url }) => url === `https://docs.example.com/${name}`);
    expect(notices.map(({ text }) => text)).toContainEqual(expect.stringMatching(notice));
    expect(bundle.files.get(`${name}.html`)).toContain(`<h1>Page ${name}</h1>`);
  });

  it('reach no private address', () => {
    expect(inside).toEqual([]);
  });
});

it('loses no page when its browser crashes, and replaces a browser after its maximum number of pages', async () => {
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
  await waitFor(() => origin.requests.length > 6, { describe: 'started to render pages' });
  process.kill((await browserPids()).at(-1) ?? 0, 'SIGKILL');
  await rig.end(jobId);
  const { files, report } = await rig.read(jobId);
  for (const name of names) expect(files.get(`${name}.html`)).toContain('<div id="a">Drawn</div>');
  expect(report.notices).toEqual([]);
  expect((await browserPids()).length - before).toBeGreaterThan(1);
});

it('finds what scripts load on sample pages, and requests nothing again that the crawl fetched', async () => {
  const { bundle, requests } = await exports.scripted;
  expect([...bundle.files.keys()]).toEqual(expect.arrayContaining(LOADED_BY_SCRIPTS));
  expect(bundle.report.notices).toEqual([]);
  const counts = ['/', '/two', '/app.js'].map((path) => requests.filter((url) => url === path).length);
  expect(counts).toEqual([1, 1, 1]);
  expect(requests.filter((url) => NEVER_ASKED.includes(url))).toEqual([]);
});

/** A client-rendered page. Its headers name a stylesheet that it needs, and a refresh. */
function drawingSite(): SiteHandler {
  return serveFiles({
    '/': {
      body: '<!doctype html><div id="app"></div><script src="/app.js"></script>',
      headers: { link: '</style.css>; rel=stylesheet', refresh: '0; url=/' },
    },
    '/style.css': { body: '#app { order: 7 }', contentType: 'text/css' },
    '/app.js': {
      contentType: 'text/javascript',
      body: `const app = document.getElementById('app');
    app.textContent = 'Drawn in order ' + getComputedStyle(app).order;
    const more = document.createElement('script'); more.src = '/more.js'; document.head.append(more);`,
    },
    '/more.js': { body: 'document.title = "More"', contentType: 'text/javascript' },
  });
}
