import type { Logger } from 'pino';
import type { Site } from '../document/types.ts';
import { type AddressGuard, portOf } from '../fetch/address-guard.ts';
import type { Fetcher, Renderer } from '../ports.ts';
import { startFilteringProxy } from './filtering-proxy.ts';
import type { ShowDeps } from './show-page.ts';

/** What an admitted host of others may be asked by; what goes through a tunnel isn't seen. */
const PASSED_ON: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'CONNECT']);

/** What showing a site's pages needs; `close` ends the way out that its pages have. */
export type SiteInBrowser = ShowDeps & { close(): Promise<void> };

/**
 * Makes a site's pages showable. Their requests are answered through `fetch`; what Chromium sends by itself (the next
 * hop of a redirect, other methods than GET) goes through a proxy that lets it to the site and to those hosts that a
 * page was already given something from: by the scheme that was admitted, so where that is plain HTTP there is no
 * tunnel, and methods that change something only to the site.
 */
export async function openSiteInBrowser(options: {
  pool: Renderer;
  guard: AddressGuard;
  site: Site;
  fetch: Fetcher['get'];
  maxBytes: number;
  logger: Logger;
}): Promise<SiteInBrowser> {
  const { pool, guard, site, fetch, maxBytes, logger } = options;
  const admitted = new Set<string>();
  for (const own of [site.origin, `https://${site.domain}`]) admitted.add(new URL(own).origin);
  const own = new Set(admitted);
  // Judged here too, where it is known which page asked; the proxy judges what comes of it.
  const admit = async (url: URL): Promise<void> => {
    guard.checkUrl(url);
    await guard.addressesFor(url.hostname, portOf(url));
    admitted.add(url.origin);
  };
  const proxy = await startFilteringProxy({
    guard,
    isAdmitted: ({ origin }, method) => (PASSED_ON.has(method) ? admitted : own).has(origin),
    maxBytes,
    onRefused: (target, reason) => logger.debug({ target, reason }, 'The browser was refused an address'),
  });
  const { address: server, credentials, close } = proxy;
  return { pool, site, fetch, admit, proxy: { server, ...credentials }, close };
}
