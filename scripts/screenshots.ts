// Takes pictures of every component and of the sites page with sample data, in light and dark, for a desktop and a phone:
//   node --import ./scripts/typescript.js scripts/screenshots.ts FOLDER [PAGE…]
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { SAMPLE_PAGES } from '../test/api/pages/sample-pages.tsx';
import { servePages } from '../test/helpers/serve-pages.ts';
import { COMPONENT_PAGES } from '../test/ui/component-page.tsx';

const SCREENS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
/** Cuts long pages: the rest repeats the same lists. */
const MAX_HEIGHT_PX = 1_900;
const THEMES = ['light', 'dark'] as const;

const PAGES = { ...COMPONENT_PAGES, ...SAMPLE_PAGES };
const [folder = 'screenshots', ...requested] = process.argv.slice(2);
const names = Object.keys(PAGES).filter((name) => requested.length === 0 || requested.includes(name));

const { origin, stop } = await servePages(PAGES);

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
for (const [screen, viewport] of Object.entries(SCREENS)) {
  for (const colorScheme of THEMES) await takePictures(browser, { screen, viewport, colorScheme });
}
await browser.close();
stop();

type Setting = { screen: string; viewport: { width: number; height: number }; colorScheme: 'light' | 'dark' };

async function takePictures(browser: Browser, { screen, viewport, colorScheme }: Setting): Promise<void> {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  for (const name of names) {
    await page.goto(`${origin}/${name}`);
    const path = join(folder, `${name}-${screen}-${colorScheme}.png`);
    const heightPx = await page.evaluate(() => document.documentElement.scrollHeight);
    const clip = { x: 0, y: 0, width: viewport.width, height: Math.min(heightPx, MAX_HEIGHT_PX) };
    await page.screenshot({ path, fullPage: true, clip });
    console.log(path);
  }
  await context.close();
}
