import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { waitFor } from '../../helpers/system/wait-for.ts';

/** A page of Chromium; every failed request, error answer and error message of it and its neighbours is kept. */
export type Visitor = { page: Page; faults: string[]; leave(): Promise<void> };

/** Only 127.0.0.1 has a name: whatever a page asks of any other host fails, and is told. No processor plays a graphics card. */
export const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** A bound for a machine that is busy, of each step of a visit. */
export const STEP_TIMEOUT_MS = 180_000;

export async function openVisitor(browser: Browser): Promise<Visitor> {
  const context = await browser.newContext();
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The browser's word for what it no longer wants, such as an icon of the page just left.
    if (reason !== 'net::ERR_ABORTED') faults.push(`${request.url()}: ${reason}`);
  });
  context.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.url()}: ${response.status()}`);
  });
  context.on('weberror', (error) => faults.push(`${error.page()?.url()}: ${error.error()}`));
  context.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${message.page()?.url()}: ${message.text()}`);
  });
  return { page, faults, leave: () => context.close() };
}

/** A page by its address at the origin and the text of its heading. */
export type Stop = readonly [path: string, title: string];

/** What a visitor must know of one site. */
export type Tour = {
  /** Selector of a page's heading. */
  heading: string;
  /** The start page first; each of the others is linked from the one before it. */
  stops: readonly [Stop, ...Stop[]];
  /** A link to a place within another page, by the path of the page it is on. */
  deepLink: { from: string; to: Stop; hash: string };
  /** The links to the next page and the one before that a page ends with, as selectors. */
  pager: { from: string; next: string; previous: string; to: Stop };
  /** Whether links change the page without loading a new document. */
  hasRouter: boolean;
  /** An expression that is true once the site's scripts have taken the page over. */
  isHydrated: string;
  /** Whether the site brings a font with it. */
  hasFont?: true;
  /** Opens the search box, looks for the one page that has the word, and follows the result. */
  search: { lookFor(page: Page, word: string): Promise<void>; word: string; found: Stop };
  /** Switches between light and dark. */
  switchTheme(page: Page): Promise<void>;
  /** An expression that is true while the page is dark. */
  isDark: string;
  /** Something that loads only when it is used, on the page of that address. */
  late?: { path: string; use(page: Page): Promise<void> };
};

/** One name for `/a/`, `/a/index.html`, `/a` and `/a.html`. */
export function nameOf(pathname: string): string {
  return decodeURIComponent(pathname).replace(/(?:\/index)?\.html$|\/$/, '');
}

export async function waitForStop(page: Page, { heading }: Tour, root: string, [path, title]: Stop): Promise<void> {
  await page.locator(heading).filter({ hasText: title }).first().waitFor();
  const expected = nameOf(new URL(root).pathname + path.slice(1));
  await page.waitForURL((url) => nameOf(url.pathname) === expected);
}

/** The first visible link of the page that leads to a path of the site, pointed at as a hand does. */
export async function linkTo(page: Page, root: string, path: string): Promise<Locator> {
  const expected = nameOf(new URL(root).pathname + path.slice(1));
  const find = async (): Promise<string | undefined> => {
    const links = await page.locator('a[href]:visible').evaluateAll((all) =>
      all.flatMap((each) => {
        const leads = 'pathname' in each && 'hash' in each && each.hash === '';
        return leads ? [{ pathname: String(each.pathname), href: each.getAttribute('href') ?? '' }] : [];
      }),
    );
    return links.find(({ pathname }) => nameOf(pathname) === expected)?.href;
  };
  const href = await waitFor(find, { describe: `had a visible link to ${path}` });
  // By what it says: where it stands among the others may change until it is pressed.
  const link = page.locator(`a[href=${JSON.stringify(href)}]:visible`).first();
  await link.hover();
  return link;
}

/** Follows a link to a place within another page, and goes back. */
async function followDeepLink(page: Page, tour: Tour, root: string, from: Stop): Promise<void> {
  const { to, hash } = tour.deepLink;
  await page.locator(`a[href$="${hash}"]:visible`).first().click();
  await waitForStop(page, tour, root, to);
  await page.waitForURL((url) => url.hash === hash);
  await page.goBack();
  await waitForStop(page, tour, root, from);
}

/** Turns to the next page, and from there to the previous one. */
async function turnPage(page: Page, tour: Tour, root: string, from: Stop): Promise<void> {
  await page.locator(tour.pager.next).click();
  await waitForStop(page, tour, root, tour.pager.to);
  await page.locator(tour.pager.previous).click();
  await waitForStop(page, tour, root, from);
}

/** Follows links from stop to stop, within pages and from page to page too; at last goes back and forth. */
export async function followLinks(page: Page, tour: Tour, root: string): Promise<void> {
  const [start, ...others] = tour.stops;
  await page.evaluate('window.__sameDocument = true');
  let before = start;
  for (const stop of others) {
    await (await linkTo(page, root, stop[0])).click();
    await waitForStop(page, tour, root, stop);
    if (stop[0] === tour.deepLink.from) await followDeepLink(page, tour, root, stop);
    if (stop[0] === tour.pager.from) await turnPage(page, tour, root, stop);
    if (stop === others.at(-1)) break;
    before = stop;
  }
  await page.goBack();
  await waitForStop(page, tour, root, before);
  await page.goForward();
  await waitForStop(page, tour, root, others.at(-1) ?? start);
}

/** Loads every page by its own address, some at a time: most of it is waiting for a page to come to rest. */
export async function openEach(context: BrowserContext, tour: Tour, root: string): Promise<void> {
  const left = [...tour.stops];
  const openOnes = async (): Promise<void> => {
    const page = await context.newPage();
    for (let stop = left.shift(); stop !== undefined; stop = left.shift()) {
      await page.goto(new URL(encodeURI(stop[0]).slice(1), root).href);
      await waitForStop(page, tour, root, stop);
      await page.waitForFunction(tour.isHydrated);
      await page.waitForLoadState('networkidle');
    }
  };
  await Promise.all([openOnes(), openOnes(), openOnes()]);
}
