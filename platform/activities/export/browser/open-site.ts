import type { Logger } from 'pino';
import { type AddressGuard, portOf } from '../fetch/address-guard.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { Site } from '../page/types.ts';
import type { BrowserPool } from './browser-pool.ts';
import { startFilteringProxy } from './filtering-proxy.ts';
import type { ShowDeps } from './show-page.ts';

/** What showing a site's pages needs; `close` ends the way out that its pages have. */
export type SiteInBrowser = ShowDeps & { close(): Promise<void> };

/**
 * Makes a site's pages showable. Their requests are answered through `fetch`; what Chromium sends by itself (the next
 * hop of a redirect, other methods than GET) goes through a proxy that lets it to the site and to those hosts that a
 * page was already given something from.
 */
export async function openSiteInBrowser(options: {
  pool: BrowserPool;
  guard: AddressGuard;
  site: Site;
  fetch: Fetcher['get'];
  maxBytes: number;
  logger: Logger;
}): Promise<SiteInBrowser> {
  const { pool, guard, site, fetch, maxBytes, logger } = options;
  const admitted = new Set<string>();
  const add = (url: URL): void => {
    admitted.add(`${url.hostname}:${portOf(url)}`);
  };
  add(new URL(site.origin));
  add(new URL(`https://${site.domain}`));
  // Judged here too, where it is known which page asked; the proxy judges what comes of it.
  const admit = async (url: URL): Promise<void> => {
    guard.checkUrl(url);
    await guard.addressesFor(url.hostname, portOf(url));
    add(url);
  };
  const proxy = await startFilteringProxy({
    guard,
    isAdmitted: (hostname, port) => admitted.has(`${hostname}:${port}`),
    maxBytes,
    onRefused: (target, reason) => logger.debug({ target, reason }, 'The browser was refused an address'),
  });
  return { pool, site, fetch, admit, proxyAddress: proxy.address, close: proxy.close };
}
