import type { Browser } from 'playwright-core';
import { SAMPLE_PAGES } from '../api/pages/sample-pages.tsx';
import { brokenWordsOf, isTooWide, launchChromium, openPage, violationsOf } from '../helpers/chromium.ts';
import { servePages } from '../helpers/serve-pages.ts';
import { COMPONENT_PAGES } from './component-page.tsx';

const PAGES = { ...COMPONENT_PAGES, ...SAMPLE_PAGES };

describe('every component and every page of the sites', () => {
  let browser: Browser;
  let served: Awaited<ReturnType<typeof servePages>>;

  beforeAll(async () => {
    browser = await launchChromium();
    served = await servePages(PAGES);
  });

  afterAll(async () => {
    served?.stop();
    await browser?.close();
  });

  test.each(['light', 'dark'] as const)('has no accessibility violation in the %s theme', async (colorScheme) => {
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      const { page } = await openPage(browser, { colorScheme, viewport });
      for (const name of Object.keys(PAGES)) {
        await page.goto(`${served.origin}/${name}`);
        expect({ name, violations: await violationsOf(page) }).toEqual({ name, violations: [] });
      }
      await page.context().close();
    }
  });

  it('keeps words whole in tables', async () => {
    const { page } = await openPage(browser, { viewport: { width: 1280, height: 800 } });
    for (const name of Object.keys(PAGES)) {
      await page.goto(`${served.origin}/${name}`);
      expect({ name, isTooWide: await isTooWide(page) }).toEqual({ name, isTooWide: false });
      expect({ name, broken: await brokenWordsOf(page) }).toEqual({ name, broken: [] });
    }
    await page.context().close();
  });

  it("shows the reader's time, and UTC on hover, also after a live update", async () => {
    const { page } = await openPage(browser, { timezoneId: 'Asia/Kolkata' });
    await page.goto(`${served.origin}/components`);
    const time = page.locator('time[data-utc]').first();
    const shown = async () => [await time.textContent(), await time.getAttribute('title')];
    const expected = ['2026-11-21 15:25:00', '2026-11-21 09:55:00 UTC'];
    expect(await shown()).toEqual(expected);
    await expect(page.getByText('Times are in Asia/').textContent()).resolves.toMatch(/, with UTC on hover\.$/);
    await page.evaluate("document.querySelector('time[data-utc]').textContent = '2026-11-21 09:55:00 UTC'");
    expect(await shown()).toEqual(expected);
    await page.context().close();
  });

  it('fits a phone of 360 pixels without scrolling sideways, and keeps its words whole', async () => {
    const { page } = await openPage(browser, { viewport: { width: 360, height: 700 } });
    for (const name of Object.keys(PAGES)) {
      await page.goto(`${served.origin}/${name}`);
      expect({ name, isTooWide: await isTooWide(page) }).toEqual({ name, isTooWide: false });
      expect({ name, broken: await brokenWordsOf(page, 16) }).toEqual({ name, broken: [] });
    }
    await page.context().close();
  });
});
