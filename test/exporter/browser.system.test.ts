import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { type Browser, chromium } from 'playwright-core';
import type { BrowserLimits } from '../../exporter/limits.ts';
import type { Renderer } from '../../exporter/ports.ts';
import { createBrowserPool } from '../../exporter/render/browser-pool.ts';
import { type ExportedBundle, type ExportRig, startExportRig } from '../helpers/export-rig.ts';
import { type HttpSite, type SiteHandler, serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { createDatabase } from '../helpers/test-database.ts';
import { appHost, buildClientApp, bundleHost } from './client-app.ts';
import { drawingSite } from './render/drawing-site.ts';
import { HOSTILE, hostileSite } from './render/hostile-pages.ts';
import { LOADED_BY_SCRIPTS, NEVER_ASKED, scriptedSite } from './render/scripted-site.ts';
import { BROWSER_ARGUMENTS, openVisitor, type Visitor } from './sites/visitor.ts';

let rig: ExportRig;
const pools: Renderer[] = [];
let folder: string;
let visitor: Browser;
let begun: ReturnType<typeof beginExports>;
const closings: (() => Promise<void>)[] = [];

type Exported = { bundle: ExportedBundle; requests: readonly string[] };

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
  const building = buildClientApp(folder);
  building.catch(() => undefined);
  visitor = await chromium.launch({ executablePath: await locateRealTool('chromium'), args: BROWSER_ARGUMENTS });
  rig = await startExportRig(await createDatabase());
  begun = beginExports(building);
});

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

afterAll(async () => {
  await Promise.allSettled(Object.values(begun ?? {}));
  await visitor?.close();
  await rig?.stop();
  await Promise.all(pools.map((pool) => pool.close()));
  await rm(folder, { recursive: true, force: true });
});

/** A worker with a browser that gives pages so much time, and no more than this to come to rest. */
async function startWorker(limits: Partial<BrowserLimits>): Promise<{ stop(): Promise<void> }> {
  const pool = createBrowserPool({
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

/** A page of a browser other than the product's, with all that goes wrong on it. */
async function watchedPage(): Promise<Visitor> {
  const watched = await openVisitor(visitor);
  closings.unshift(watched.leave);
  return watched;
}

/** Exports what a handler serves; its origin is stopped before the bundle is looked at. */
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

/** A page that means well comes to rest by itself, also on a machine that has much else to do. */
const PATIENT = { loadTimeoutMs: 60_000, quietTimeoutMs: 60_000, pageTimeoutMs: 180_000 };
/** Not the page's whole time: each that never rests would come to its end. */
const HASTY = { quietTimeoutMs: 4_000 };

/**
 * All exports but one at once, since most of their time is waiting. Those that mean no good come after the others:
 * they may take the browser with them.
 */
function beginExports(building: Promise<string>) {
  const patient = startWorker(PATIENT);
  const app = building.then((built) => exported(appHost(built), { render: 'browser' }));
  const drawing = Promise.all([exportDrawing('strip'), exportDrawing('keep')]);
  const scripted = exported(scriptedSite(), { discover: 'browser' });
  const hostile = Promise.allSettled([app, drawing, scripted]).then(async () => {
    await (await patient).stop();
    const hasty = await startWorker(HASTY);
    const outcome = await exportHostile();
    await hasty.stop();
    await startWorker(PATIENT);
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

describe('an app that draws itself, exported with render: browser, its origin stopped', () => {
  let bundle: ExportedBundle;
  let requests: readonly string[];

  beforeAll(async () => {
    ({ bundle, requests } = await begun.app);
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
  const [stripped, kept] = await begun.drawing;
  expect(stripped).toContain('<title>More</title>');
  expect(stripped).toContain('Drawn');
  expect(stripped).not.toContain('<script');
  expect(kept.match(/<script[^>]*>/g)).toEqual(['<script src="app.js">']);
});

it('draws a page with the styles that only its headers name, and doesn’t go where they lead a reader on', async () => {
  for (const page of await begun.drawing) {
    expect(page).toContain('Drawn in order 7');
    expect(page.match(/<link [^>]*>/g)).toEqual(['<link rel="stylesheet" href="style.css">']);
    expect(page.match(/<meta http-equiv="refresh"[^>]*>/g)).toHaveLength(1);
  }
});

describe('pages that mean no good', () => {
  let bundle: ExportedBundle;
  let inside: readonly string[];

  beforeAll(async () => {
    ({ bundle, inside } = await begun.hostile);
  });

  it.each(Object.entries(HOSTILE))('%s: contained, named in the report, and the page is there', (name, [, notice]) => {
    const told = bundle.report.notices.filter(({ url }) => url === `https://docs.example.com/${name}`);
    expect(told.map(({ text }) => text)).toContainEqual(expect.stringMatching(notice));
    expect(bundle.files.get(`${name}.html`)).toContain(`<h1>Page ${name}</h1>`);
  });

  it('reach nothing on a private address', () => {
    expect(inside).toEqual([]);
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
  process.kill((await browserPids()).at(-1) ?? 0, 'SIGKILL');
  await rig.end(jobId);
  const { files, report } = await rig.read(jobId);
  for (const name of names) expect(files.get(`${name}.html`)).toContain('<div id="a">Drawn</div>');
  expect(report.notices).toEqual([]);
  expect((await browserPids()).length - before).toBeGreaterThan(1);
});

it('finds what scripts load on a visit of sample pages, and asks the origin once for all that the crawl had', async () => {
  const { bundle, requests } = await begun.scripted;
  expect([...bundle.files.keys()]).toEqual(expect.arrayContaining(LOADED_BY_SCRIPTS));
  expect(bundle.report.notices).toEqual([]);
  const counts = ['/', '/two', '/app.js'].map((path) => requests.filter((url) => url === path).length);
  expect(counts).toEqual([1, 1, 1]);
  expect(requests.filter((url) => NEVER_ASKED.includes(url))).toEqual([]);
});
