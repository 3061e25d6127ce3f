import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';
import { LOAD_ALL, READ_PAGE, untilStill } from './page-scripts.ts';

export const VIEWPORTS = [
  { name: 'desktop', width: 1280, height: 800 },
  { name: 'phone', width: 390, height: 844 },
] as const;
export type Viewport = (typeof VIEWPORTS)[number];

const readPage = z.object({
  text: z.string(),
  links: z.array(z.object({ href: z.string(), text: z.string() })),
  images: z.array(z.object({ src: z.string(), width: z.number(), height: z.number() })),
  height: z.number(),
});

/** What one visit to a page showed. URLs are as the browser saw them. */
export type Visit = z.infer<typeof readPage> & {
  /** The URL at the end, after redirects. */
  url: string;
  /** Hosts of requests. */
  hosts: ReadonlySet<string>;
  /** Requests without a response, or with an error. */
  failedRequests: { url: string; reason: string }[];
  /** Error messages of the console, and errors that no script caught. */
  consoleErrors: string[];
  /** PNG of the whole page, or of its beginning if it is long. */
  picture: Buffer;
};

/** Thrown if a page can't be opened; the message says why. */
export class NotOpened extends Error {
  override readonly name = 'NotOpened';
}

const OPEN_TIMEOUT_MS = 30_000;
const STEP_TIMEOUT_MS = 20_000;
/** A page is idle if it requested nothing for this long. */
const QUIET_MS = 300;
const QUIET_TIMEOUT_MS = 10_000;
const POLL_MS = 50;
/** A picture's largest area: 3,900 pixels of height on a desktop, 12,800 on a phone. */
const MAX_PIXELS = 5_000_000;

/** Opens a page in a new tab and reads it when its scripts have changed nothing for `stillMs`. @throws NotOpened */
export async function visitPage(
  context: BrowserContext,
  url: string,
  { viewport, stillMs }: { viewport: Viewport; stillMs: number },
): Promise<Visit> {
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_TIMEOUT_MS);
  const watched = watch(page);
  try {
    await page.setViewportSize({ width: viewport.width, height: viewport.height });
    const response = await page.goto(url, { waitUntil: 'load', timeout: OPEN_TIMEOUT_MS }).catch((error: unknown) => {
      // Chromium has its own error for a response without a body.
      const failed = watched.found.failedRequests.find((request) => request.url === url);
      throw new NotOpened(failed?.reason ?? reasonOf(error));
    });
    if (response !== null && response.status() >= 400) throw new NotOpened(`HTTP ${response.status()}`);
    await untilQuiet(watched);
    await within(page.evaluate(LOAD_ALL));
    await untilAtRest(page, watched, stillMs);
    const read = readPage.parse(await within(page.evaluate(READ_PAGE)));
    const height = Math.max(1, Math.min(read.height, Math.floor(MAX_PIXELS / viewport.width)));
    const clip = { x: 0, y: 0, width: viewport.width, height };
    const picture = await page.screenshot({
      fullPage: true,
      clip,
      animations: 'disabled',
      caret: 'hide',
      scale: 'css',
    });
    return { ...read, ...watched.found, url: page.url(), picture };
  } finally {
    await page.close().catch(() => undefined);
  }
}

type Watched = {
  found: Pick<Visit, 'failedRequests' | 'consoleErrors'> & { hosts: Set<string> };
  underWay(): number;
  quietSince(): number;
};

function watch(page: Page): Watched {
  const found: Watched['found'] = { hosts: new Set(), failedRequests: [], consoleErrors: [] };
  let underWay = 0;
  let quietSince = Date.now();
  const count = (change: number) => (): void => {
    underWay += change;
    quietSince = Date.now();
  };
  page.on('request', count(1));
  page.on('request', (request) => {
    if (/^https?:/.test(request.url())) found.hosts.add(new URL(request.url()).host);
  });
  page.on('requestfinished', count(-1));
  page.on('requestfailed', count(-1));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? 'failed';
    const type = request.resourceType();
    // A beacon changes nothing that is shown. Others were aborted by the page itself, but for those that Chromium
    // rejects by their content type.
    const isRejected = ['stylesheet', 'script', 'font'].includes(type);
    if ((reason === 'net::ERR_ABORTED' && !isRejected) || ['ping', 'cspreport'].includes(type)) return;
    found.failedRequests.push({ url: request.url(), reason });
  });
  page.on('response', (response) => {
    if (response.status() < 400) return;
    found.failedRequests.push({ url: response.url(), reason: `HTTP ${response.status()}` });
  });
  page.on('console', (message) => {
    // Failed requests have their own list.
    const isOfRequest = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isOfRequest) found.consoleErrors.push(message.text());
  });
  page.on('pageerror', (error) => found.consoleErrors.push(String(error)));
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
  page.on('popup', (popup) => void popup.close().catch(() => undefined));
  return { found, underWay: () => underWay, quietSince: () => quietSince };
}

/** Waits until nothing is requested and nothing in the page changes. Scripts that use the processor don't request. */
async function untilAtRest(page: Page, watched: Watched, stillMs: number): Promise<void> {
  const endAt = Date.now() + QUIET_TIMEOUT_MS;
  do await Promise.all([untilQuiet(watched), within(page.evaluate(untilStill(stillMs)))]);
  while (watched.underWay() > 0 && Date.now() < endAt);
}

/** Waits until nothing is requested any more, such as by a poll, for a limited time. */
async function untilQuiet({ underWay, quietSince }: Watched): Promise<void> {
  const endAt = Date.now() + QUIET_TIMEOUT_MS;
  while (Date.now() < endAt) {
    if (underWay() <= 0 && Date.now() - quietSince() >= QUIET_MS) return;
    await sleep(POLL_MS);
  }
}

/** A page whose script never returns answers nothing. */
async function within<Result>(work: Promise<Result>): Promise<Result> {
  const ended = new AbortController();
  const late = sleep(STEP_TIMEOUT_MS, undefined, { signal: ended.signal }).then(() => {
    throw new NotOpened(`its scripts did not come to rest within ${STEP_TIMEOUT_MS / 1000} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    work.catch(() => undefined);
    late.catch(() => undefined);
    ended.abort();
  }
}

/** The first line of a browser's error, without its name for the call. */
export function reasonOf(error: unknown): string {
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
  return line.replace(/^page\.\w+: /, '');
}
