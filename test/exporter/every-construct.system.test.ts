import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { LinkChecker } from 'linkinator';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { bundleKey } from '../../exporter/object-keys.ts';
import { type ExportedBundle, type ExportRig, startExportRig } from '../helpers/export-rig.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createDatabase } from '../helpers/test-database.ts';
import { OUTSIDE_FOLDER, SITE_FOLDER, startConstructSite } from './construct-site.ts';
import { staticHost } from './sites/static-host.ts';
import { BROWSER_ARGUMENTS, STEP_TIMEOUT_MS } from './sites/visitor.ts';

/** Pages whose scripts set `data-done` after they have shown what they load. */
const DRAWN_BY_SCRIPTS = ['scripts', 'outside', 'based/page', 'search'];
/** Pages that must look as they do at the origin. */
const SAMPLE = [
  ...['index', 'frames', 'drawings', 'styles', 'feeds', 'guides/start', 'guides/deep/index', ...DRAWN_BY_SCRIPTS],
  ...['charset/by-header', 'charset/by-meta', 'charset/by-mark', 'charset/overruled', 'charset/by-attribute'],
  ...['charset/by-escape', 'charset/inherited'],
];
/** A script file requests this from the root, so it fails if the site is in a folder. */
const REQUESTED_FROM_ROOT = '/data/search.json';

/** Leads to the top of any page, but the checker doesn't know that. */
const TOP = '#top';

const MAX_ADDRESS_LENGTH = 120;

/** Without this, large images appear in a later frame than the rest of the page. */
const PAINTED_AT_ONCE = ['--disable-checker-imaging'];

/** Frames and fonts may be painted well after the network is idle. This only bounds a test that hangs. */
const PAINTED_WITHIN_MS = STEP_TIMEOUT_MS;
const PICTURE_EVERY_MS = 300;
const STABLE_PICTURES = 4;

let rig: ExportRig;
let browser: Browser;
const folder = temporaryFolder();
let exported: ExportedBundle;
let atOrigin: Map<string, Buffer>;
let host: HttpSite;

beforeAll(async () => {
  const args = [...BROWSER_ARGUMENTS, ...PAINTED_AT_ONCE];
  browser = await chromium.launch({ executablePath: await locateRealTool('chromium'), args });
  const origin = await startConstructSite();
  rig = await startExportRig(await createDatabase());
  await rig.startWorker({ privateHosts: [origin.outside.host] });
  exported = await rig.run({ origin: origin.site.origin });
  atOrigin = (await visitAll(`${origin.site.origin}/`, SAMPLE, { spelling: 'extensionless' })).pictures;
  await origin.close();

  const bundle = join(folder, 'bundle');
  await mkdir(bundle);
  await writeFile(join(folder, 'bundle.tar.gz'), await rig.objects.read(bundleKey(exported.row.archiveSha256 ?? '')));
  await promisify(execFile)('tar', ['-xzf', join(folder, 'bundle.tar.gz'), '-C', bundle], {
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  const atRoot = staticHost(bundle);
  const below = staticHost(bundle, { prefix: '/some/folder/' });
  host = await startHttpSite((request, response) =>
    request.url?.startsWith('/some/folder/') ? below(request, response) : atRoot(request, response),
  );
});

afterAll(async () => {
  await browser?.close();
  await host?.close();
  await rig?.stop();
});

type Visits = { faults: string[]; pictures: Map<string, Buffer> };

/**
 * Loads pages, a few at a time. Records failed requests, error responses and error messages, and takes a screenshot of
 * each sample page.
 */
async function visitAll(
  root: string,
  pages: readonly string[],
  { spelling, known = new Map() }: { spelling: 'files' | 'extensionless'; known?: ReadonlyMap<string, Buffer> },
): Promise<Visits> {
  const context = await browser.newContext({ viewport: { width: 800, height: 700 } });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const visits: Visits = { faults: [], pictures: new Map() };
  const rest = [...pages];
  const next = async (): Promise<void> => {
    for (let page = rest.shift(); page !== undefined; page = rest.shift()) {
      const address = spelling === 'files' ? page : page.replace(/(^|\/)index$/, '$1');
      await visit(context, root + address.split('/').map(encodeURIComponent).join('/'), page, visits, known);
    }
  };
  await Promise.all([next(), next(), next()]);
  await context.close();
  return visits;
}

async function visit(
  context: BrowserContext,
  address: string,
  name: string,
  visits: Visits,
  known: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const page = await context.newPage();
  const fault = (text: string) => visits.faults.push(`${name}: ${text}`);
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The browser aborts requests that it no longer needs, such as media that it can't play.
    if (reason !== 'net::ERR_ABORTED') fault(`${request.url()} ${reason}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) fault(`${response.url()} ${response.status()}`);
  });
  page.on('pageerror', (error) => fault(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') fault(message.text());
  });
  await page.goto(address);
  if (DRAWN_BY_SCRIPTS.includes(name.replace(/\.html$/, ''))) {
    await page
      .locator('body[data-done]')
      .waitFor()
      .catch(() => fault('its scripts never finished'));
  }
  await page.waitForLoadState('networkidle');
  await page.evaluate('document.fonts.ready.then(() => true)');
  const bare = name.replace(/\.x?html$/, '');
  if (SAMPLE.includes(bare)) visits.pictures.set(bare, await pictureOf(page, known.get(bare)));
  await page.close();
}

/** A screenshot of the page: once it equals `wanted`, or else once it no longer changes. */
async function pictureOf(page: Page, wanted: Buffer | undefined): Promise<Buffer> {
  const until = Date.now() + PAINTED_WITHIN_MS;
  let picture = await page.screenshot();
  let same = 1;
  while (Date.now() < until && !(wanted?.equals(picture) ?? same >= STABLE_PICTURES)) {
    await sleep(PICTURE_EVERY_MS);
    const next = await page.screenshot();
    same = next.equals(picture) ? same + 1 : 1;
    picture = next;
  }
  return picture;
}

/** The bundle's names for files of the other host, and for files whose URL has a query. */
const OUTSIDE_PREFIX = '_external/outside/';
const EXTERNAL = /^_external\/127\.0\.0\.1_\d+\//;
const HASH = /\.[0-9a-f]{12}(?=\.|$)/;

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function pagesOf({ files }: ExportedBundle): string[] {
  return [...files.keys()].filter((path) => /\.x?html$/.test(path));
}

describe('an exported site that uses every construct, after its hosts have stopped', () => {
  it('has every file except source maps, and its report lists no broken links', () => {
    expect(exported.report.brokenLinks).toEqual([]);
    const own = ['.nojekyll', ...filesOf(SITE_FOLDER), 'styles/face.woff2'].filter((path) => !path.endsWith('.map'));
    const outside = [...filesOf(OUTSIDE_FOLDER), 'fonts/outside.woff2'].map((path) => `${OUTSIDE_PREFIX}${path}`);
    const found = [...exported.files.keys()].map((path) => path.replace(EXTERNAL, OUTSIDE_PREFIX).replace(HASH, ''));
    expect([...new Set(found)].sort()).toEqual([...own, ...outside].sort());
  });

  it('loads every page without a failed request or an error, and looks the same', async () => {
    const { faults, pictures } = await visitAll(`${host.origin}/`, pagesOf(exported), {
      spelling: 'files',
      known: atOrigin,
    });
    expect(faults).toEqual([]);
    const differing = SAMPLE.filter((name) => !pictures.get(name)?.equals(atOrigin.get(name) ?? Buffer.alloc(0)));
    expect(differing).toEqual([]);
  });

  it('does so in a folder below the root, except for what script files request from the root', async () => {
    const requestCount = host.requests.length;
    const pages = SAMPLE.map((name) => `${name}.html`);
    const { faults, pictures } = await visitAll(`${host.origin}/some/folder/`, pages, {
      spelling: 'files',
      known: atOrigin,
    });
    const fromRoot = host.requests.slice(requestCount).filter((path) => !path.startsWith('/some/folder/'));
    expect(fromRoot.filter((path) => path !== '/favicon.ico')).toEqual([REQUESTED_FROM_ROOT]);
    expect(faults).toEqual([]);
    const differing = SAMPLE.filter((name) => !pictures.get(name)?.equals(atOrigin.get(name) ?? Buffer.alloc(0)));
    expect(differing).toEqual([]);
  });

  it('requests nothing from the root while a page below it still loads', async () => {
    const html = exported.files.get('styles.html') ?? '';
    const half = html.indexOf('</p>', html.indexOf('"themed"'));
    const halves = [html.slice(0, half), html.slice(half)];
    let finish = (): void => undefined;
    const bundle = staticHost(join(folder, 'bundle'), { prefix: '/some/folder/' });
    const slow = await startHttpSite((request, response) => {
      if (request.url === '/some/folder/styles.html') {
        response.writeHead(200, { 'content-type': 'text/html' }).write(halves[0]);
        finish = () => void response.end(halves[1]);
      } else bundle(request, response);
    });
    const page = await browser.newPage();
    await page.goto(`${slow.origin}/some/folder/styles.html`, { waitUntil: 'commit' });
    const pictureUrl = `getComputedStyle(document.querySelector('.themed')).backgroundImage`;
    await page.locator('.themed').waitFor();
    await page.waitForFunction(`${pictureUrl}.startsWith('url')`);
    await page.screenshot();
    const early = await page.evaluate(pictureUrl);
    finish();
    await page.waitForLoadState('load');
    const paths = slow.requests.filter((path) => path !== '/favicon.ico');
    expect([early, paths.filter((path) => !path.startsWith('/some/folder/'))]).toEqual([
      `url("${slow.origin}/some/folder/styles/variable.png")`,
      [],
    ]);
    await page.close();
    await slow.close();
  });

  it('has no broken links', async () => {
    for (const root of ['/', '/some/folder/']) {
      const { links } = await new LinkChecker().check({
        path: `${host.origin}${root}`,
        recurse: true,
        checkFragments: true,
        // A not-found page at an arbitrary URL may lead to an endless number of further URLs.
        linksToSkip: async (link) => !link.startsWith(host.origin) || link.length > MAX_ADDRESS_LENGTH,
      });
      const broken = links.filter(({ state, url }) => state === 'BROKEN' && !url.endsWith(TOP));
      expect(broken.map(({ url, parent }) => `${parent} → ${url}`)).toEqual([]);
      expect(links.length).toBeGreaterThan(100);
    }
  });
});
