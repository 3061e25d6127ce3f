import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { type Fixture, openFixture, type Running } from '../../deployment/fixture.ts';
import { type ExportedArchive, exportArchive } from '../../helpers/export-archive.ts';

const TIMEOUT_MS = 180_000;

/** A site exported with search, served by a deployment. */
export type Searchable = ExportedArchive & { url: string; close(): Promise<void> };

export async function makeSearchable(origin: string, settings: Record<string, unknown> = {}): Promise<Searchable> {
  const exported = await exportArchive(origin, {}, { settings: { search: 'pagefind', ...settings } });
  const { url, close } = await serveArchive(exported.archive);
  return { ...exported, url, close };
}

/** Serves a bundle with a deployment. */
export async function serveArchive(archive: Buffer): Promise<{ url: string; close(): Promise<void> }> {
  const fixture: Fixture = await openFixture();
  const file = join(fixture.folder, 'bundle.tar.gz');
  await writeFile(file, archive);
  await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(file).href });
  const running: Running = await fixture.start();
  await running.until('live', ({ version }) => version !== null);
  return {
    url: running.url,
    async close() {
      await running.stop();
      await fixture.close();
    },
  };
}

export type Reader = {
  page: Page;
  /** What went wrong, such as requests of other hosts. */
  faults: string[];
  /** The size of all responses so far, as transferred. */
  transferredBytes(): Promise<number>;
  leave(): Promise<void>;
};

/** A browser page without a network but the deployment's host. */
export async function openReader(browser: Browser, { url }: { url: string }): Promise<Reader> {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  const sizes: Array<Promise<number>> = [];
  await context.route('**', (route) => {
    if (route.request().url().startsWith(`${url}/`)) return route.continue();
    faults.push(`requested ${route.request().url()}`);
    return route.abort();
  });
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('response', (response) => response.status() >= 400 && faults.push(`${response.url()}: ${response.status()}`));
  page.on('requestfinished', (request) => {
    const size = request
      .sizes()
      .then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize);
    sizes.push(size);
  });
  return {
    page,
    faults,
    transferredBytes: async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
    leave: () => context.close(),
  };
}

/** Searches on an open search page, and returns the paths of the results that are shown, as they are in the bundle. */
export async function searchFor(page: Page, query: string): Promise<string[]> {
  await page.getByRole('searchbox').fill(query);
  await page.keyboard.press('Enter');
  await page.locator('[data-galley-search] [role=status]').filter({ hasText: query }).waitFor();
  const links = await page.locator('[data-galley-search] li a').all();
  return Promise.all(links.map(async (link) => decodeURIComponent((await link.getAttribute('href')) ?? '')));
}
