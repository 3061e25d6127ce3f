import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { type Browser, chromium } from 'playwright-core';
import { type BrowserPool, createBrowserPool } from '../../../../platform/activities/export/browser/browser-pool.ts';
import { type ExportRig, startExportRig } from '../../../helpers/export-rig.ts';
import { startPglite } from '../../../helpers/pglite.ts';
import { locateRealTool } from '../../../helpers/real-tool.ts';
import { buildSite, type Generator } from './sites/build-site.ts';
import { type ExportedSite, exportSite, type Host, startDeployment, startPlainHost } from './sites/export-site.ts';
import { originHost } from './sites/origin-host.ts';
import { TOURS } from './sites/tours.ts';
import {
  BROWSER_ARGUMENTS,
  followLinks,
  linkTo,
  openEach,
  openVisitor,
  type Visitor,
  waitForStop,
} from './sites/visitor.ts';

let rig: ExportRig;
let pool: BrowserPool;
let browser: Browser;
let folder: string;
const closings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-sites-'));
  browser = await chromium.launch({ executablePath: await locateRealTool('chromium'), args: BROWSER_ARGUMENTS });
  rig = await startExportRig(await startPglite());
  pool = createBrowserPool({
    path: await locateRealTool('chromium'),
    sandbox: false,
    searchPath: process.env.PATH ?? '',
    logger: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
  });
  await rig.startWorker({}, pool);
});

afterAll(async () => {
  await browser?.close();
  await rig?.stop();
  await pool?.close();
  await rm(folder, { recursive: true, force: true });
});

async function visit(): Promise<Visitor> {
  const visitor = await openVisitor(browser);
  closings.unshift(visitor.leave);
  return visitor;
}

async function hosted(starting: Promise<Host>): Promise<string> {
  const host = await starting;
  closings.push(host.close);
  return host.root;
}

const SITES = [
  { name: 'Docusaurus', generator: 'docusaurus' },
  { name: 'Astro with Starlight', generator: 'starlight' },
] as const satisfies readonly { name: string; generator: Generator }[];

describe.each(SITES)('A site of $name, exported, its origin stopped', ({ generator }) => {
  const tour = TOURS[generator];
  const [start] = tour.stops;
  let site: ExportedSite;
  let built: string;

  beforeAll(async () => {
    const work = join(folder, generator);
    await mkdir(work);
    built = await buildSite(work, generator);
    site = await exportSite(rig, work, originHost(built, { redirectFolders: true }));
  });

  async function clickThrough(exported: ExportedSite): Promise<void> {
    const root = await hosted(startDeployment(exported));
    const { page, faults } = await visit();
    await page.goto(root);
    await waitForStop(page, tour, root, start);
    await page.waitForFunction(tour.isHydrated);
    await followLinks(page, tour, root);
    expect(await page.evaluate("'__sameDocument' in window")).toBe(tour.hasRouter);
    await page.reload();
    await waitForStop(page, tour, root, tour.stops.at(-1) ?? start);

    await tour.search.lookFor(page, tour.search.word);
    await waitForStop(page, tour, root, tour.search.found);

    const chosen = await tour.switchTheme(page);
    expect(chosen).toBe('dark');
    if (tour.late !== undefined) {
      await (await linkTo(page, root, tour.late.path)).click();
      await tour.late.use(page);
    }
    await page.waitForLoadState('networkidle');
    expect(faults).toEqual([]);
  }

  it('is clicked through: every page, back and forth, search, theme, what loads late', async () => {
    await clickThrough(site);
  });

  it('is so too where a browser visited sample pages, and holds no less', async () => {
    const work = join(folder, `${generator}-browser`);
    await mkdir(work);
    const origin = originHost(built, { redirectFolders: true });
    const visited = await exportSite(rig, work, origin, { discover: 'browser' });
    expect(visited.exported.report.notices).toEqual([]);
    expect([...visited.exported.files.keys()]).toEqual(expect.arrayContaining([...site.exported.files.keys()]));
    await clickThrough(visited);
  });

  it('answers each page at its own address, and its scripts take each over', async () => {
    const root = await hosted(startDeployment(site));
    const { page, faults } = await visit();
    await openEach(page, tour, root);
    expect(faults).toEqual([]);
  });

  it('reads and links as static pages under a sub-path', async () => {
    const root = await hosted(startPlainHost(site, '/some/folder/'));
    const { page, faults } = await visit();
    await page.goto(`${root}index.html`);
    await waitForStop(page, tour, root, start);
    await followLinks(page, tour, root);
    expect(await page.evaluate(tour.isHydrated)).toBe(false);
    expect(faults).toEqual([]);
  });

  it('reads and links as static pages from a folder', async () => {
    const root = `${pathToFileURL(site.bundle).href}/`;
    const { page, faults } = await visit();
    await page.goto(`${root}index.html`);
    await waitForStop(page, tour, root, start);
    await followLinks(page, tour, root);
    expect(await page.evaluate(tour.isHydrated)).toBe(false);
    expect(faults).toEqual([]);
  });
});
