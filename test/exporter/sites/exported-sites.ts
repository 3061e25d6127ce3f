import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { type Browser, chromium } from 'playwright-core';
import { bundleKey } from '../../../exporter/object-keys.ts';
import type { Renderer } from '../../../exporter/ports.ts';
import { BrowserPool } from '../../../exporter/render/browser-pool.ts';
import { openFixture } from '../../deployment/fixture.ts';
import { type ExportedBundle, type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { startHttpSite } from '../../helpers/http-site.ts';
import { locateRealTool } from '../../helpers/real-tool.ts';
import { createDatabase } from '../../helpers/test-database.ts';
import { buildSite, type Generator } from './build-site.ts';
import { type StaticHostOptions, staticHost } from './static-host.ts';
import { TOURS } from './tours.ts';
import { BROWSER_ARGUMENTS, followLinks, linkTo, openEach, openVisitor, type Visitor, waitForStop } from './visitor.ts';

type ExportedSite = {
  exported: ExportedBundle;
  /** The archive and the folder of its unpacked files. */
  archive: string;
  bundle: string;
};

/** Exports the site of a running origin and unpacks its bundle below a folder. */
async function exportSite(
  rig: ExportRig,
  folder: string,
  origin: string,
  settings: Record<string, unknown> = {},
): Promise<ExportedSite> {
  const bundle = join(folder, 'bundle');
  const archive = join(folder, 'bundle.tar.gz');
  const exported = await rig.run({ origin, settings });
  await mkdir(bundle, { recursive: true });
  await writeFile(archive, await rig.objects.read(bundleKey(exported.row.archiveSha256 ?? '')));
  await promisify(execFile)('tar', ['-xzf', archive, '-C', bundle], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  return { exported, archive, bundle };
}

type Host = { root: string; close(): Promise<void> };

/** Galley's deployment of a bundle, at the root of its host. */
async function startDeployment({ archive }: ExportedSite): Promise<Host> {
  const fixture = await openFixture();
  await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
  const running = await fixture.start();
  await running.until('serving', ({ state }) => state === 'serving');
  return { root: `${running.url}/`, close: () => fixture.close() };
}

/** A plain static host of the bundle, optionally below a path prefix. */
async function startPlainHost({ bundle }: ExportedSite, prefix = '/'): Promise<Host> {
  const host = await startHttpSite(staticHost(bundle, { prefix }));
  return { root: host.origin + prefix, close: () => host.close() };
}

/** A site of test/fixtures and how it is built, hosted and tested. */
export type Site = {
  name: string;
  generator: Generator;
  /** Options of the origin. VitePress is built for them. */
  origin: StaticHostOptions;
  /** The host for the click-through. A plain host has no clean URLs. */
  host: 'plain' | 'deployment';
  /** Whether the site is also exported with sample visits. */
  visited?: true;
};

type Exported = { site: ExportedSite; visited: ExportedSite | undefined };

/**
 * Exports sites whose scripts hydrate their pages, stops their origins, and clicks through the exports. Call it once per
 * test file: its sites share a browser, a database and a worker.
 */
export function describeExportedSites(sites: readonly Site[]): void {
  let rig: ExportRig;
  let pool: Renderer;
  let browser: Browser;
  let folder: string;
  const exports = new Map<Site, Promise<Exported>>();
  const closings: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of closings.splice(0)) await close();
  });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-sites-'));
    browser = await chromium.launch({ executablePath: await locateRealTool('chromium'), args: BROWSER_ARGUMENTS });
    rig = await startExportRig(await createDatabase());
    pool = new BrowserPool({
      path: await locateRealTool('chromium'),
      sandbox: false,
      searchPath: process.env.PATH ?? '',
      logger: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
      // Few samples and short pauses save time: the tests don't depend on what visits add.
      limits: { maxSamples: 3, quietMs: 150 },
    });
    await rig.startWorker({}, pool);
    // Builds and exports run concurrently, because they partly wait.
    for (const site of sites) {
      const exporting = buildAndExport(site);
      exporting.catch(() => undefined);
      exports.set(site, exporting);
    }
  });

  afterAll(async () => {
    await Promise.allSettled(exports.values());
    await browser?.close();
    await rig?.stop();
    await pool?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Builds a site, exports it in both ways from one origin, and stops the origin. */
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

  describe.each(sites)('An exported site of $name, after its origin has stopped', (given) => {
    const tour = TOURS[given.generator];
    const [start] = tour.stops;
    const startHost = given.host === 'plain' ? startPlainHost : startDeployment;
    let site: ExportedSite;
    let visited: ExportedSite | undefined;

    beforeAll(async () => {
      const exported = await exports.get(given);
      if (exported === undefined) throw new Error('its export was not started');
      ({ site, visited } = exported);
      // The first site waits for all builds, because they share the machine.
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

    it('works in a browser: every page, history, search, theme and lazy content', async () => {
      await clickThrough(startHost(site));
    });

    if (given.visited === true) {
      it('works as well if exported with sample visits, and has at least the same files', async () => {
        if (visited === undefined) throw new Error('it was not exported with visits');
        expect(visited.exported.report.notices).toEqual([]);
        expect([...visited.exported.files.keys()]).toEqual(expect.arrayContaining([...site.exported.files.keys()]));
        await clickThrough(startDeployment(visited));
      });
    }

    it('serves each page at its own URL, and its scripts hydrate it', async () => {
      const root = await hosted(startDeployment(site));
      const { page, faults } = await visit();
      await openEach(page.context(), tour, root);
      expect(faults).toEqual([]);
    });

    it('shows its not-found page at any URL', async () => {
      const root = await hosted(startHost(site));
      const { page, faults } = await visit();
      const nowhere = `${root}nowhere/at/all`;
      await page.goto(nowhere);
      await page.getByText('Page not found').first().waitFor();
      await page.waitForFunction(tour.isHydrated);
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('getComputedStyle(document.body).margin')).toBe('0px');
      // The preload scanner requests files relative to the URL before the page sets the root as its base.
      expect(faults.filter((fault) => !fault.startsWith(`${root}nowhere/at/`))).toEqual([]);
    });

    /** Clicks through the pages where no script may start. */
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

    it('works as static pages under a sub-path', async () => {
      await readThrough(await hosted(startPlainHost(site, '/some/folder/')));
    });

    it('works as static pages from a folder', async () => {
      await readThrough(`${pathToFileURL(site.bundle).href}/`);
    });
  });
}
