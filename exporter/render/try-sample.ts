import type { Locator, Page } from 'playwright-core';
import type { ShownPage } from './show-page.ts';

/** The timeout of one click, hover or key press; missing or covered elements are skipped. */
const MOVE_MS = 2_000;
/** Time for the page to become idle after an action. */
const QUIET_MS = 3_000;

const MAX_HOVERS = 12;
const MAX_OPENED = 8;
const MAX_FOLLOWED = 3;

/**
 * Interacts with a page as a visitor would, so that its scripts load what they need: scroll, hover links, open closed
 * elements, switch the theme, search, follow links of the page's router. No step starts after `endAt`.
 */
export async function tryPage(shown: ShownPage, endAt: number): Promise<void> {
  const { page } = shown;
  const steps = [scroll, pointAtLinks, openWhatIsClosed, switchTheme, search, followLinks];
  for (const step of steps) {
    if (Date.now() >= endAt) return;
    // A step that fails here would fail for a visitor too.
    await step(page, shown).catch(() => undefined);
    await shown.untilQuiet(Math.min(QUIET_MS, Math.max(0, endAt - Date.now())));
  }
}

async function scroll(page: Page, shown: ShownPage): Promise<void> {
  for (let screen = 0; screen < 12; screen += 1) {
    await page.mouse.wheel(0, 800);
    await page.waitForTimeout(80);
    const atEnd = await shown.evaluate('innerHeight + scrollY >= document.documentElement.scrollHeight - 2');
    if (atEnd === true) break;
  }
  await shown.evaluate('scrollTo(0, 0)');
}

async function pointAtLinks(page: Page): Promise<void> {
  for (const link of await some(page.locator('a[href]:visible'), MAX_HOVERS)) {
    await link.hover({ timeout: MOVE_MS }).catch(() => undefined);
    await page.waitForTimeout(80);
  }
}

async function openWhatIsClosed(page: Page): Promise<void> {
  const closed = page.locator(
    'details:not([open]) > summary:visible, [aria-expanded="false"]:visible, [role="tab"][aria-selected="false"]:visible',
  );
  for (const each of await some(closed, MAX_OPENED)) await press(each);
  await page.keyboard.press('Escape');
}

async function switchTheme(page: Page): Promise<void> {
  // By label or by a specific class, because a button with "dark" in its class may do anything.
  const words = ['theme', 'appearance', 'dark mode', 'light mode', 'dark theme', 'color mode', 'color scheme'];
  const classes = ['[class*="theme" i][class*="switch" i]', '[class*="theme" i][class*="toggle" i]'].concat(
    ['appearance', 'darkmode', 'dark-mode', 'colormode', 'color-mode'].map((word) => `[class*="${word}" i]`),
  );
  const named = words
    .flatMap((word) => [`[aria-label*="${word}" i]`, `[title*="${word}" i]`])
    .concat(classes)
    .map((each) => `button${each}:not(form button):visible`);
  const [button] = await some(page.locator(named.join(', ')), 1);
  // Twice, to restore the theme for the next steps.
  for (const each of button === undefined ? [] : [button, button]) await press(each);
  const [list] = await some(page.locator('starlight-theme-select select, select[aria-label*="theme" i]'), 1);
  for (const index of list === undefined ? [] : [1, 0]) await list?.selectOption({ index }, { timeout: MOVE_MS });
}

async function search(page: Page, shown: ShownPage): Promise<void> {
  const boxes = page.locator(
    'input[type="search"]:visible, input[role="searchbox"]:visible, input[role="combobox"]:visible, input[name="q"]:visible, input[placeholder*="search" i]:visible',
  );
  if ((await boxes.count()) === 0) {
    const openers = ['[aria-label*="search" i]', '[class*="search" i]', '[id*="search" i] button'];
    const [opener] = await some(page.locator(openers.map((each) => `button${each}:visible`).join(', ')), 1);
    if (opener !== undefined) await press(opener);
    await shown.untilQuiet(QUIET_MS);
  }
  const [box] = await some(boxes, 1);
  if (box === undefined) return;
  await box.click({ timeout: MOVE_MS });
  // Common first letters, so that a split index loads the chunks for them.
  for (const text of ['a', 's', 'in']) {
    await box.fill(text, { timeout: MOVE_MS });
    await shown.untilQuiet(QUIET_MS);
  }
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
}

async function followLinks(page: Page, shown: ShownPage): Promise<void> {
  const start = new URL(page.url());
  const links = page.locator('a[href]:visible:not([target="_blank"]):not([download])');
  let followed = 0;
  for (const link of await some(links, 40)) {
    const href = await link.getAttribute('href', { timeout: MOVE_MS });
    if (href === null || !URL.canParse(href, page.url())) continue;
    const { origin, pathname } = new URL(href, page.url());
    if (origin !== start.origin || pathname === new URL(page.url()).pathname) continue;
    await press(link);
    await shown.untilQuiet(QUIET_MS);
    followed += 1;
    // The page has no client-side router, so other links won't work either.
    if (new URL(page.url()).pathname === start.pathname || followed === MAX_FOLLOWED) break;
  }
  if (page.url() !== start.href) await page.goBack({ timeout: MOVE_MS, waitUntil: 'commit' });
}

async function press(target: Locator): Promise<void> {
  await target.click({ timeout: MOVE_MS, noWaitAfter: true }).catch(() => undefined);
}

async function some(locator: Locator, maxCount: number): Promise<Locator[]> {
  const count = Math.min(await locator.count(), maxCount);
  return Array.from({ length: count }, (_, index) => locator.nth(index));
}
