import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { bundleKey } from '../../../../platform/objects/object-store.ts';
import { type ExportRig, startExportRig } from '../../../helpers/export-rig.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { startPglite } from '../../../helpers/pglite.ts';
import { locateRealTool } from '../../../helpers/real-tool.ts';
import { buildVitepressSite, staticHost } from './vitepress-site.ts';

let rig: ExportRig;
let browser: Browser;
let folder: string;
const closings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-vitepress-'));
  browser = await chromium.launch({ executablePath: await locateRealTool('chromium'), args: ['--no-sandbox'] });
  rig = await startExportRig(await startPglite());
  await rig.startWorker();
});

afterAll(async () => {
  await browser?.close();
  await rig?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Builds, serves and exports the site; the origin is stopped before the bundle's folder is returned. */
async function exportSite(cleanUrls: boolean): Promise<string> {
  const work = join(folder, String(cleanUrls));
  const bundle = join(work, 'bundle');
  await mkdir(bundle, { recursive: true });
  const built = await buildVitepressSite(work, { cleanUrls });
  const origin = await startHttpSite(staticHost(built, { cleanUrls }));
  const { row } = await rig.run({ origin: origin.origin });
  await origin.close();
  await writeFile(join(work, 'bundle.tar.gz'), await rig.objects.read(bundleKey(row.archiveSha256 ?? '')));
  await promisify(execFile)('tar', ['-xzf', join(work, 'bundle.tar.gz'), '-C', bundle], {
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  return bundle;
}

/** A page whose every failed request, error answer and error message is kept. */
async function watchedPage(): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage();
  closings.unshift(() => page.close());
  const faults: string[] = [];
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The browser's word for what it no longer wants, such as an icon of the page just left.
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

/** A plain host of the bundle's folder; returns the address of its root. */
async function startHost(bundle: string, prefix = '/'): Promise<string> {
  const host = await startHttpSite(staticHost(bundle, { prefix }));
  closings.push(() => host.close());
  return host.origin + prefix;
}

const HEADINGS = [
  ['Guide', 'Start'],
  ['More', 'More'],
  ['About us', 'Über uns'],
  ['Interface', 'Interface'],
  ['Overview', 'Reference'],
  ['Start', 'Start'],
] as const;

/** Clicks through the navigation, then goes back and loads the page anew, and waits for each heading. */
async function clickThrough(page: Page, start: string): Promise<void> {
  const heading = (text: string) => page.locator('.vp-doc h1', { hasText: text }).waitFor();
  await page.goto(start);
  await heading('Home');
  for (const [link, title] of HEADINGS) {
    await page.locator('a:visible', { hasText: link }).first().click();
    await heading(title);
  }
  await page.locator('.vp-doc a', { hasText: 'more' }).click();
  await heading('More');
  expect(new URL(page.url()).hash).toBe('#deep');
  await page.goBack();
  await heading('Start');
  await page.reload();
  await heading('Start');
  await page.waitForLoadState('networkidle');
}

const isHydrated = (page: Page) => page.evaluate("'__vue_app__' in document.querySelector('#app')");

describe.each([
  ['with clean addresses', true],
  ['with .html addresses and a metadata chunk', false],
])('a VitePress site %s, exported, its origin stopped', (_, cleanUrls) => {
  let bundle: string;
  beforeAll(async () => {
    bundle = await exportSite(cleanUrls);
  });

  it('works at the root of a plain host: router, search and a page loaded anew', async () => {
    const root = await startHost(bundle);
    const { page, faults } = await watchedPage();
    await clickThrough(page, root);
    expect(await isHydrated(page)).toBe(true);
    await page.locator('#local-search button').click();
    await page.locator('#localsearch-input').fill('needle');
    await page.locator('.VPLocalSearchBox .result').first().click();
    await page.locator('.vp-doc h1', { hasText: 'More' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('shows its not-found page at any address', async () => {
    const root = await startHost(bundle);
    const { page, faults } = await watchedPage();
    await page.goto(`${root}nowhere/at/all`);
    await page.getByText('PAGE NOT FOUND').waitFor();
    expect(await page.evaluate('getComputedStyle(document.body).margin')).toBe('0px');
    expect(faults.filter((each) => !each.includes('404'))).toEqual([]);
  });

  it('reads and links as static pages under a sub-path', async () => {
    const root = await startHost(bundle, '/some/folder/');
    const { page, faults } = await watchedPage();
    await clickThrough(page, `${root}index.html`);
    expect(await isHydrated(page)).toBe(false);
    expect(faults).toEqual([]);
    await page.goto(`${root}404.html`);
    await page.getByText('Page not found').waitFor();
    expect(faults).toEqual([]);
  });

  it('reads and links as static pages from a folder', async () => {
    const { page, faults } = await watchedPage();
    await clickThrough(page, pathToFileURL(join(bundle, 'index.html')).href);
    expect(await isHydrated(page)).toBe(false);
    expect(await page.evaluate('[...document.fonts].some((font) => font.status === "loaded")')).toBe(true);
    expect(faults).toEqual([]);
  });
});
