import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { type Browser, chromium } from 'playwright-core';
import type { Renderer } from '../../../exporter/ports.ts';
import { createBrowserPool } from '../../../exporter/render/browser-pool.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { startHttpSite } from '../../helpers/http-site.ts';
import { locateRealTool } from '../../helpers/real-tool.ts';
import { createDatabase } from '../../helpers/test-database.ts';
import { buildSite, type Generator } from './build-site.ts';
import { type ExportedSite, exportSite, type Host, startDeployment, startPlainHost } from './export-site.ts';
import { type StaticHostOptions, staticHost } from './static-host.ts';
import { TOURS } from './tours.ts';
import { BROWSER_ARGUMENTS, followLinks, linkTo, openEach, openVisitor, type Visitor, waitForStop } from './visitor.ts';

/** A site of test/fixtures: how it is built, hosted and looked at. */
export type Site = {
  name: string;
  generator: Generator;
  /** What the origin answers beyond exact names; VitePress is built for it. */
  origin: StaticHostOptions;
  /** Where the export over HTTP is clicked through; a plain host knows no clean addresses. */
  host: 'plain' | 'deployment';
  /** Whether it is exported with sample visits too. */
  visited?: true;
};

type Exported = { site: ExportedSite; visited: ExportedSite | undefined };

/**
 * The suite that exports sites whose scripts take their pages over, stops their origins, and clicks through what was
 * exported. Called once, at the top of a test file: it shares a browser, a database and a worker among its sites.
 */
export function describeExportedSites(sites: readonly Site[]): void {
  let rig: ExportRig;
  let pool: Renderer;
  let browser: Browser;
  let folder: string;
  const begun = new Map<Site, Promise<Exported>>();
  const closings: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of closings.splice(0)) await close();
  });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-sites-'));
    browser = await chromium.launch({ executablePath: await locateRealTool('chromium'), args: BROWSER_ARGUMENTS });
    rig = await startExportRig(await createDatabase());
    pool = createBrowserPool({
      path: await locateRealTool('chromium'),
      sandbox: false,
      searchPath: process.env.PATH ?? '',
      logger: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
      // Few samples and short rests: what the crawl found has to be there whatever a visit adds to it.
      limits: { maxSamples: 3, quietMs: 150 },
    });
    await rig.startWorker({}, pool);
    // All at the same time: who waits for a program or a timer leaves the machine to the others.
    for (const site of sites) {
      const exporting = buildAndExport(site);
      exporting.catch(() => undefined);
      begun.set(site, exporting);
    }
  });

  afterAll(async () => {
    await Promise.allSettled(begun.values());
    await browser?.close();
    await rig?.stop();
    await pool?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Builds a site and exports it in both ways from one origin, which is stopped before either is looked at. */
  async function buildAndExport({ name, generator, origin: options, visited }: Site): Promise<Exported> {
    const work = join(folder, name.replaceAll(' ', '-'));
    const built = await buildSite(work, generator, options);
    const { origin, close } = await startHttpSite(staticHost(built, options));
    const [plain, withVisits] = await Promise.allSettled([
      exportSite(rig, join(work, 'http'), origin),
      visited && exportSite(rig, join(work, 'browser'), origin, { discover: 'browser' }),
    ]);
    await close();
    if (plain.status === 'rejected') throw plain.reason;
    if (withVisits.status === 'rejected') throw withVisits.reason;
    return { site: plain.value, visited: withVisits.value };
  }

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

  describe.each(sites)('A site of $name, exported, its origin stopped', (given) => {
    const tour = TOURS[given.generator];
    const [start] = tour.stops;
    const startHost = given.host === 'plain' ? startPlainHost : startDeployment;
    let site: ExportedSite;
    let visited: ExportedSite | undefined;

    beforeAll(async () => {
      const exported = await begun.get(given);
      if (exported === undefined) throw new Error('its export was not begun');
      ({ site, visited } = exported);
      // The first of them waits for the builds of all, which share the machine.
    }, 600_000);

    async function clickThrough(starting: Promise<Host>): Promise<void> {
      const root = await hosted(starting);
      const { page, faults } = await visit();
      await page.goto(root);
      await waitForStop(page, tour, root, start);
      await page.waitForFunction(tour.isHydrated);
      await followLinks(page, tour, root);
      expect(await page.evaluate("'__sameDocument' in window")).toBe(tour.hasRouter);
      await page.reload();
      await waitForStop(page, tour, root, tour.stops.at(-1) ?? start);
      await page.waitForFunction(tour.isHydrated);

      await tour.search.lookFor(page, tour.search.word);
      await waitForStop(page, tour, root, tour.search.found);
      await page.waitForFunction(tour.isHydrated);

      expect(await page.evaluate(tour.isDark)).toBe(false);
      await tour.switchTheme(page);
      await page.waitForFunction(tour.isDark);
      if (tour.late !== undefined) {
        await (await linkTo(page, root, tour.late.path)).click();
        await tour.late.use(page);
      }
      await page.waitForLoadState('networkidle');
      expect(faults).toEqual([]);
    }

    it('is clicked through: every page, back and forth, search, theme, what loads late', async () => {
      await clickThrough(startHost(site));
    });

    if (given.visited === true) {
      it('is so too where a browser visited sample pages, and holds no less', async () => {
        if (visited === undefined) throw new Error('it was not exported with visits');
        expect(visited.exported.report.notices).toEqual([]);
        expect([...visited.exported.files.keys()]).toEqual(expect.arrayContaining([...site.exported.files.keys()]));
        await clickThrough(startDeployment(visited));
      });
    }

    it('answers each page at its own address, and its scripts take each over', async () => {
      const root = await hosted(startDeployment(site));
      const { page, faults } = await visit();
      await openEach(page.context(), tour, root);
      expect(faults).toEqual([]);
    });

    it('shows its not-found page at any address', async () => {
      const root = await hosted(startHost(site));
      const { page, faults } = await visit();
      const nowhere = `${root}nowhere/at/all`;
      await page.goto(nowhere);
      await page.getByText('Page not found').first().waitFor();
      await page.waitForFunction(tour.isHydrated);
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('getComputedStyle(document.body).margin')).toBe('0px');
      // The browser asks for what it sees ahead before the page has named the root as its base, and then there.
      expect(faults.filter((fault) => !fault.startsWith(`${root}nowhere/at/`))).toEqual([]);
    });

    /** Where no script may start. */
    async function readThrough(root: string): Promise<void> {
      const { page, faults } = await visit();
      await page.goto(`${root}index.html`);
      await waitForStop(page, tour, root, start);
      await followLinks(page, tour, root);
      await page.reload();
      await waitForStop(page, tour, root, tour.stops.at(-1) ?? start);
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate(tour.isHydrated)).toBe(false);
      if (tour.hasFont === true) {
        await page.waitForFunction('[...document.fonts].some((font) => font.status === "loaded")');
      }
      await page.goto(`${root}404.html`);
      await page.getByText('Page not found').first().waitFor();
      expect(await page.evaluate(tour.isHydrated)).toBe(false);
      expect(faults).toEqual([]);
    }

    it('reads and links as static pages under a sub-path', async () => {
      await readThrough(await hosted(startPlainHost(site, '/some/folder/')));
    });

    it('reads and links as static pages from a folder', async () => {
      await readThrough(`${pathToFileURL(site.bundle).href}/`);
    });
  });
}
