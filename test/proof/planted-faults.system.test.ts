import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { PNG } from 'pngjs';
import type { BundleFile } from '../../contract/bundle.ts';
import { bundleManifest } from '../../contract/bundle.ts';
import type { BrowserPool } from '../../exporter/render/browser-pool.ts';
import { launchChromium, openPage, violationsOf } from '../helpers/chromium.ts';
import { galley } from '../helpers/galley.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { exportCommand, openPool, prove } from './proving.ts';

const FONTS = 'node_modules/vitepress/dist/client/theme-default/fonts';

const folder = temporaryFolder();
let origin: HttpSite;
let pool: BrowserPool;
let viewer: Browser;

/** A picture in one color. */
function picture(red: number, green: number, blue: number): Buffer {
  const png = new PNG({ width: 200, height: 120 });
  for (let at = 0; at < png.data.length; at += 4) png.data.set([red, green, blue, 255], at);
  return PNG.sync.write(png);
}

const PAGE = `<!doctype html><html lang="de"><head><meta charset="utf-8"><title>Größe</title>
<link rel="stylesheet" href="/first.css"><link rel="stylesheet" href="/second.css"></head><body>
<h1>Größe und Übersicht</h1><p class="color">Ein Absatz mit Wörtern, der lang genug ist.</p>
<img src="/red.png" alt="" width="200" height="120"><img src="/blue.png" alt="" loading="lazy">
<p><a href="/guide/">Anleitung</a> <a href="/about">Über uns</a></p><div id="late"></div>
<p id="time"></p><script>time.textContent = new Date().toISOString().slice(0, 10) + Math.random()</script>
<script type="module" src="/app.js"></script></body></html>`;

async function siteFiles() {
  const [name = ''] = (await readdir(FONTS)).filter((each) => each.startsWith('inter-roman-latin.woff2'));
  const css = (body: string) => ({ body, contentType: 'text/css' });
  const js = (body: string) => ({ body, contentType: 'text/javascript' });
  return {
    '/': PAGE,
    '/guide/': '<!doctype html><title>Guide</title><h1>Guide</h1><a href="/">Start</a>',
    '/about': '<!doctype html><title>About</title><h1>About</h1><a href="/">Start</a>',
    '/first.css': css(
      '@font-face { font-family: F; src: url(/f.woff2) } body { font: 16px F } .color { background: #c00; height: 5rem }',
    ),
    '/second.css': css('.color { background: #0a0 }'),
    '/f.woff2': { body: await readFile(join(FONTS, name)), contentType: 'font/woff2' },
    '/red.png': { body: picture(200, 0, 0), contentType: 'image/png' },
    '/blue.png': { body: picture(0, 0, 200), contentType: 'image/png' },
    '/app.js': js("import('./chunk.js').then(({ text }) => { late.textContent = text; })"),
    '/chunk.js': js("export const text = 'Loaded later'"),
  };
}

beforeAll(async () => {
  origin = await startHttpSite(serveFiles(await siteFiles()));
  pool = await openPool();
  viewer = await launchChromium();
});

afterAll(async () => {
  await pool?.close();
  await viewer?.close();
  await origin?.close();
});

/** A copy of the bundle. */
type Copy = {
  edit(path: string, change: (text: string) => string): Promise<void>;
  remove(path: string): Promise<void>;
  put(path: string, bytes: Buffer): Promise<void>;
  describe(path: string, change: Partial<BundleFile>): Promise<void>;
};

async function copyOf(bundle: string, name: string): Promise<{ at: string; copy: Copy }> {
  const at = join(folder, name);
  await cp(bundle, at, { recursive: true });
  const manifestFile = join(at, '.galley/manifest.json');
  const describe: Copy['describe'] = async (path, change) => {
    const manifest = bundleManifest.parse(JSON.parse(await readFile(manifestFile, 'utf8')));
    const files = manifest.files.map((file) => (file.path === path ? { ...file, ...change } : file));
    expect(files.some((file) => file.path === path)).toBe(true);
    await writeFile(manifestFile, JSON.stringify({ ...manifest, files }));
  };
  const put: Copy['put'] = async (path, bytes) => {
    await writeFile(join(at, path), bytes);
    await describe(path, { size: (await stat(join(at, path))).size });
  };
  const edit: Copy['edit'] = async (path, change) => {
    const before = await readFile(join(at, path), 'utf8');
    const after = change(before);
    expect(after).not.toBe(before);
    await put(path, Buffer.from(after));
  };
  return { at, copy: { describe, put, edit, remove: (path) => rm(join(at, path)) } };
}

const FAULTS: [string, string, (copy: Copy) => Promise<void>][] = [
  ['a stylesheet is missing', 'request', (copy) => copy.remove('second.css')],
  ['a font is missing', 'request', (copy) => copy.remove('f.woff2')],
  ['a chunk is missing', 'request', (copy) => copy.remove('chunk.js')],
  ['an image is missing', 'request', (copy) => copy.remove('blue.png')],
  ['an image is another one', 'pixels', (copy) => copy.put('red.png', picture(0, 200, 0))],
  [
    'a page has another charset',
    'text',
    async (copy) => {
      await copy.edit('index.html', (text) => text.replace('charset="utf-8"', 'charset="windows-1252"'));
      await copy.describe('index.html', { contentType: 'text/html; charset=windows-1252' });
    },
  ],
  [
    'a link leads to another page',
    'link',
    (copy) => copy.edit('index.html', (text) => text.replace('guide/', 'about')),
  ],
  ['text is cut', 'text', (copy) => copy.edit('index.html', (text) => text.replace(', der lang genug ist', ''))],
  ['a script fails', 'console', (copy) => copy.edit('app.js', (text) => `${text};throw new Error('planted')`)],
  [
    'styles are in another order',
    'pixels',
    (copy) =>
      copy.edit('index.html', (text) =>
        text.replace('first.css', 'x.css').replace('second.css', 'first.css').replace('x.css', 'second.css'),
      ),
  ],
];

describe('galley export --prove', () => {
  it('finds an export equal to its origin, and each planted fault', async () => {
    const options = ['--prove', '--fail-on', 'proof', '--json'];
    const { args, variables } = await exportCommand(join(folder, 'home'), origin.origin, 'site', options);
    const exported = await galley(args, variables, folder);
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringMatching(/3 pages \| proving\n/) });
    expect(JSON.parse(exported.stdout).proof).toMatchObject({
      status: 'passed',
      counts: { pages: 3, equal: 3, different: 0, unknown: 0 },
      html: join(folder, 'proof.html'),
    });
    const found: Record<string, string[]> = {};
    for (const [name, , plant] of FAULTS) {
      const { at, copy } = await copyOf(join(folder, 'site'), name.replaceAll(' ', '-'));
      await plant(copy);
      const { proof, html } = await prove(pool, { folder: at, origin: origin.origin });
      expect([name, proof.status]).toEqual([name, 'failed']);
      found[name] = [...new Set(proof.pages.flatMap(({ findings }) => findings.map(({ kind }) => kind)))];
      if (name === 'an image is another one') await writeFile(join(folder, 'different.html'), html);
    }
    for (const [name, kind] of FAULTS) expect(found[name]).toContain(kind);

    const { page, errors } = await openPage(viewer);
    await page.goto(`file://${join(folder, 'different.html')}`);
    expect(await page.locator('img').count()).toBeGreaterThan(0);
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});
