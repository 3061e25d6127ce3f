import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Parser } from 'htmlparser2';
import { type Browser, chromium } from 'playwright-core';
import { bundleManifest, MANIFEST_PATH } from '../../contract/bundle.ts';
import { bundleKey } from '../../exporter/object-keys.ts';
import { type ExportRig, startExportRig } from '../helpers/export-rig.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { startS3, type TestS3 } from '../helpers/s3.ts';
import { staticHost } from './sites/static-host.ts';
import { BROWSER_ARGUMENTS, STEP_TIMEOUT_MS } from './sites/visitor.ts';

/** Pages of each manual that a browser opens. */
const SAMPLE = 20;

let s3: TestS3;
let rig: ExportRig;
let browser: Browser;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-manuals-'));
  s3 = await startS3();
  process.env.AWS_ACCESS_KEY_ID = s3.credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.credentials.secretAccessKey;
  rig = await startExportRig(await startPostgres(), { objects: s3.url });
  await rig.startWorker();
  browser = await chromium.launch({
    executablePath: await locateRealTool('chromium'),
    args: BROWSER_ARGUMENTS,
  });
});

afterAll(async () => {
  await browser?.close();
  await rig?.stop();
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Downloads the archive by its link, as a deployment does, and unpacks it. */
async function unpack(archiveSha256: string, name: string): Promise<string> {
  const link = await rig.objects.presign(bundleKey(archiveSha256), { ttlMs: 60_000 });
  const response = await fetch(link.url);
  expect(response.status).toBe(200);
  const archive = join(folder, `${name}.tar.gz`);
  await writeFile(archive, Buffer.from(await response.arrayBuffer()));
  const bundle = join(folder, name);
  await mkdir(bundle);
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  await promisify(execFile)('tar', ['-xzf', archive, '-C', bundle], { env });
  return bundle;
}

/** Opens pages one after another and returns everything that failed to load. */
async function openAll(addresses: readonly string[]): Promise<string[]> {
  const page = await browser.newPage();
  page.setDefaultTimeout(STEP_TIMEOUT_MS);
  const faults: string[] = [];
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The browser aborts requests that it no longer needs, such as an icon of the previous page.
    if (reason !== 'net::ERR_ABORTED') faults.push(`${page.url()}: ${request.url()}: ${reason}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${page.url()}: ${response.url()}: ${response.status()}`);
  });
  for (const address of addresses) {
    await page.goto(address, { waitUntil: 'load' });
    expect(await page.title()).not.toBe('');
  }
  await page.close();
  return faults;
}

describe.each([
  ['PostgreSQL’s', 'postgresql', '/usr/share/doc/postgresql-doc-15/html', 1169],
  ['Python’s', 'python', '/usr/share/doc/python3.11/html', 500],
])('%s manual, exported to a real S3 server and downloaded by its link', (_, name, installed, pageCount) => {
  let bundle: string;
  let before: WalkedSite;
  let after: WalkedSite;

  beforeAll(async () => {
    if (!existsSync(installed)) throw new Error(`${installed} is missing. Run: npm run setup:system`);
    const origin = await startHttpSite(staticHost(await realpath(installed)));
    before = await walkSite(`${origin.origin}/`);
    const jobId = await rig.start({ origin: origin.origin, settings: { incremental: false } });
    const { status, error, archiveSha256 } = await rig.end(jobId);
    expect({ status, error }).toEqual({ status: 'completed', error: null });
    await origin.close();
    bundle = await unpack(archiveSha256 ?? '', name);
    const host = await startHttpSite(staticHost(bundle));
    after = await walkSite(`${host.origin}/`);
    await host.close();
    expect(await rig.keys(`exports/${jobId}/`)).toEqual([]);
  });

  it('has every page that the origin links to', () => {
    expect(before.pages.size).toBeGreaterThanOrEqual(pageCount);
    expect([...before.pages].filter((page) => !after.pages.has(page))).toEqual([]);
  });

  it('has no broken references that the origin doesn’t have', () => {
    expect([...after.broken].filter((path) => !before.broken.has(path))).toEqual([]);
  });

  it('lists all its pages in the manifest', async () => {
    const manifest = bundleManifest.parse(JSON.parse(await readFile(join(bundle, MANIFEST_PATH), 'utf8')));
    const paths = new Set(manifest.files.map((file) => `/${file.path}`));
    expect([...after.pages].filter((page) => !paths.has(decodeURIComponent(page)))).toEqual([]);
    expect(manifest.pageCount).toBeGreaterThanOrEqual(pageCount);
  });

  it('loads in an offline browser, from a plain host and from the folder', async () => {
    const pages = [...after.pages].sort();
    const sample = pages.filter((_page, index) => index % Math.ceil(pages.length / SAMPLE) === 0);
    const host = await startHttpSite(staticHost(bundle));
    expect(await openAll(sample.map((page) => host.origin + page))).toEqual([]);
    await host.close();
    const root = pathToFileURL(bundle).href;
    expect(await openAll(sample.map((page) => root + page))).toEqual([]);
  });
});

type WalkedSite = {
  /** Paths of every linked page. A folder's path ends in `index.html`. */
  pages: Set<string>;
  /** Paths of missing files on the site that pages refer to. */
  broken: Set<string>;
};

const REFERRING = new Set(['href', 'src', 'data', 'poster']);
const AT_ONCE = 16;

/** Follows every reference from a site's start page over HTTP, independently of the product's code. */
async function walkSite(start: string): Promise<WalkedSite> {
  const { origin } = new URL(start);
  const queue = [start];
  const seen = new Set(queue);
  const walked: WalkedSite = { pages: new Set(), broken: new Set() };

  async function visit(address: string): Promise<void> {
    const response = await fetch(address);
    const { pathname } = new URL(response.url);
    const text = await response.text();
    if (!response.ok) {
      walked.broken.add(pathname);
    } else if (response.headers.get('content-type')?.startsWith('text/html')) {
      walked.pages.add(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      for (const found of references(text, response.url)) {
        if (new URL(found).origin !== origin || seen.has(found)) continue;
        seen.add(found);
        queue.push(found);
      }
    }
  }

  while (queue.length > 0) await Promise.all(queue.splice(0, AT_ONCE).map(visit));
  return walked;
}

function references(html: string, page: string): Set<string> {
  const found = new Set<string>();
  let base = page;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'base' && attributes.href !== undefined) base = new URL(attributes.href, page).href;
      for (const [attribute, value] of Object.entries(attributes)) {
        if (!REFERRING.has(attribute) || !URL.canParse(value, base)) continue;
        const target = new URL(value, base);
        target.hash = '';
        found.add(target.href);
      }
    },
  });
  parser.end(html);
  return found;
}
