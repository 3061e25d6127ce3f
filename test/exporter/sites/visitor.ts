import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { waitFor } from '../../helpers/system/wait-for.ts';

/** A page of Chromium. `faults`: failed requests, error responses and error messages of all pages in its context. */
export type Visitor = { page: Page; faults: string[]; leave(): Promise<void> };

/** Requests to any host but 127.0.0.1 fail. Software rendering of 3D graphics is off, because it is slow. */
export const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** Timeout of each step of a visit, long enough for a busy machine. */
export const STEP_TIMEOUT_MS = 180_000;

export async function openVisitor(browser: Browser): Promise<Visitor> {
  const context = await browser.newContext();
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The browser aborts requests that it no longer needs, such as an icon of the previous page.
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

/** A page's path at the origin and the text of its heading. */
export type Stop = readonly [path: string, title: string];

/** How to visit one site. */
export type Tour = {
  /** Selector of a page's heading. */
  heading: string;
  /** The start page first. Each page links to the next one. */
  stops: readonly [Stop, ...Stop[]];
  /** A link with a fragment to another page, and the page that contains it. */
  deepLink: { from: string; to: Stop; hash: string };
  /** Selectors of a page's links to the next and the previous page. */
  pager: { from: string; next: string; previous: string; to: Stop };
  /** Whether links change the page without loading a new document. */
  hasRouter: boolean;
  /** An expression that is true after the site's scripts have hydrated the page. */
  isHydrated: string;
  /** Whether the site includes a font. */
  hasFont?: true;
  /** Opens the search box, searches for a word that only one page has, and follows the result. */
  search: { lookFor(page: Page, word: string): Promise<void>; word: string; found: Stop };
  /** Switches between light and dark. */
  switchTheme(page: Page): Promise<void>;
  /** An expression that is true while the page is dark. */
  isDark: string;
  /** Content that loads only when it is used, and the page that has it. */
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

/** Finds the first visible link to a path of the site and hovers over it. */
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
  // Locate it by its text, because its position may change before the click.
  const link = page.locator(`a[href=${JSON.stringify(href)}]:visible`).first();
  await link.hover();
  return link;
}

/** Follows a link with a fragment to another page, and goes back. */
async function followDeepLink(page: Page, tour: Tour, root: string, from: Stop): Promise<void> {
  const { to, hash } = tour.deepLink;
  await page.locator(`a[href$="${hash}"]:visible`).first().click();
  await waitForStop(page, tour, root, to);
  await page.waitForURL((url) => url.hash === hash);
  await page.goBack();
  await waitForStop(page, tour, root, from);
}

/** Follows the link to the next page, and from there to the previous one. */
async function turnPage(page: Page, tour: Tour, root: string, from: Stop): Promise<void> {
  await page.locator(tour.pager.next).click();
  await waitForStop(page, tour, root, tour.pager.to);
  await page.locator(tour.pager.previous).click();
  await waitForStop(page, tour, root, from);
}

/** Follows links from stop to stop, including the deep link and the pager, then goes back and forward. */
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

/** Loads every page by its own URL. Three pages load concurrently, because most of the time is waiting. */
export async function openEach(context: BrowserContext, tour: Tour, root: string): Promise<void> {
  const left = [...tour.stops];
  const openRemaining = async (): Promise<void> => {
    const page = await context.newPage();
    for (let stop = left.shift(); stop !== undefined; stop = left.shift()) {
      await page.goto(new URL(encodeURI(stop[0]).slice(1), root).href);
      await waitForStop(page, tour, root, stop);
      await page.waitForFunction(tour.isHydrated);
      await page.waitForLoadState('networkidle');
    }
  };
  await Promise.all([openRemaining(), openRemaining(), openRemaining()]);
}
