import type { Logger } from 'pino';
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import { createAddressGuard, hostAndPort } from '../exporter/fetch/address-guard.ts';
import type { Renderer } from '../exporter/ports.ts';
import { startFilteringProxy } from '../exporter/render/filtering-proxy.ts';
import type { Site } from '../exporter/urls/identity.ts';
import { normalizeUrl, originUrl } from '../exporter/urls/identity.ts';

type Use = <Result>(signal: AbortSignal, work: (context: BrowserContext) => Promise<Result>) => Promise<Result>;

/** Browser contexts for the origin and for the bundle, each without cookies and storage. */
export type Sides = {
  useOrigin: Use;
  useBundle: Use;
  /** Known once a context was used. */
  browserVersion(): string;
  close(): Promise<void>;
};

type Options = {
  browser: Renderer;
  site: Site;
  operatorHosts: readonly string[];
  bundleOrigin: string;
  logger: Logger;
};

/** The same for both sides. */
const CONTEXT: BrowserContextOptions = {
  serviceWorkers: 'block',
  acceptDownloads: false,
  locale: 'en-US',
  timezoneId: 'UTC',
  colorScheme: 'light',
  reducedMotion: 'reduce',
  deviceScaleFactor: 1,
};

/** What a visitor may send to other hosts while a page is only looked at. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'CONNECT']);
const MAX_BYTES = 512 * 1024 ** 2;

/**
 * All requests go through proxies: those of the origin's pages to public addresses and the operator's origin, those of the
 * bundle's pages to its own server only.
 */
export async function openSides({ browser, site, operatorHosts, bundleOrigin, logger }: Options): Promise<Sides> {
  const onRefused = (target: string, reason: string): void =>
    logger.debug({ target, reason }, 'A request of a compared page was refused');
  const ofOrigin = await startFilteringProxy({
    guard: createAddressGuard({ operatorHosts }),
    isAdmitted: (url, method) => READING.has(method) || url.origin === site.origin,
    maxBytes: MAX_BYTES,
    onRefused,
  });
  const ofBundle = await startFilteringProxy({
    guard: createAddressGuard({ operatorHosts: [hostAndPort(new URL(bundleOrigin))] }),
    isAdmitted: (url) => url.origin === bundleOrigin,
    maxBytes: MAX_BYTES,
    onRefused,
  });
  let version = 'of unknown version';

  const use =
    ({ address, credentials }: typeof ofOrigin, prepare: (context: BrowserContext) => Promise<void>): Use =>
    (signal, work) =>
      browser.use({ ...CONTEXT, proxy: { server: address, ...credentials } }, signal, async (context) => {
        version = context.browser()?.version() ?? version;
        await prepare(context);
        return await untilAborted(work(context), signal);
      });

  return {
    useOrigin: use(ofOrigin, (context) => mapDomain(context, site)),
    useBundle: use(ofBundle, async () => undefined),
    browserVersion: () => version,
    close: async () => void (await Promise.all([ofOrigin.close(), ofBundle.close()])),
  };
}

/** A page names the site's public domain, which may not exist yet: the origin responds for it. */
async function mapDomain(context: BrowserContext, site: Site): Promise<void> {
  if (site.origin === `https://${site.domain}`) return;
  const isPublic = ({ hostname, port, origin }: URL): boolean =>
    hostname === site.domain && port === '' && origin !== site.origin;
  await context.route(isPublic, async (route) => {
    const request = route.request();
    const url = originUrl(normalizeUrl(request.url(), site) ?? request.url(), site);
    try {
      const options = { method: request.method(), maxRedirects: 0, failOnStatusCode: false };
      const response = await context.request.fetch(url, options);
      // At its domain, the page and these are one site.
      const headers = { ...response.headers(), 'access-control-allow-origin': '*' };
      await route.fulfill({ status: response.status(), headers, body: await response.body() });
    } catch {
      await route.abort('failed').catch(() => undefined);
    }
  });
}

/** The end of the context ends what is left of the work. */
export async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  work.catch(() => undefined);
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
