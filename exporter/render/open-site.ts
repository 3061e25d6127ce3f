import type { Logger } from 'pino';
import type { Site } from '../document/types.ts';
import { type AddressGuard, portOf } from '../fetch/address-guard.ts';
import type { Fetcher, Renderer } from '../ports.ts';
import { startFilteringProxy } from './filtering-proxy.ts';
import type { ShowDeps } from './show-page.ts';

/** Methods allowed to other hosts that a page needs; requests inside a tunnel can't be inspected. */
const PASSED_ON: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'CONNECT']);

/** What `showPage` needs for a site's pages; `close` stops their proxy. */
export type SiteInBrowser = ShowDeps & { close(): Promise<void> };

/**
 * Prepares to show a site's pages. Requests go through `fetch`. Those that Chromium sends itself (redirect
 * targets, methods other than GET) go through a proxy, which admits the site and hosts that a page already got a
 * response from, by the admitted scheme only (so no tunnels to a host admitted over plain HTTP). Only the site gets
 * methods that change something.
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
  // Checked here too, because the error names the page; the proxy checks the connection itself.
  const admit = async (url: URL): Promise<void> => {
    guard.checkUrl(url);
    await guard.addressesFor(url.hostname, portOf(url));
    admitted.add(url.origin);
  };
  const proxy = await startFilteringProxy({
    guard,
    isAdmitted: ({ origin }, method) => (PASSED_ON.has(method) ? admitted : own).has(origin),
    maxBytes,
    onRefused: (target, reason) => logger.debug({ target, reason }, 'A request of the browser was refused'),
  });
  const { address: server, credentials, close } = proxy;
  return { pool, site, fetch, admit, proxy: { server, ...credentials }, close };
}
