import { decodePath } from '../../bundle/url.ts';
import type { BundleFile } from '../../contract/bundle.ts';
import type { Site } from '../urls/identity.ts';
import { isOfSite } from '../urls/identity.ts';

/**
 * A file's path and query at the origin, as the manifest's `url`; nothing if its path in the bundle is the same, or if
 * it isn't of the site. `url` is normalized (`normalizeUrl`).
 */
export function originalUrl({ url, path }: { url: string; path: string }, site: Site): Pick<BundleFile, 'url'> {
  if (!isOfSite(url, site) || isExactly(path, url, site)) return {};
  const pathAndQuery = pathAndQueryOf(url, site);
  // A browser would take `//host` for another host's URL. Deployments redirect such paths to those without empty names.
  return /^[^?]*\/\//.test(pathAndQuery) ? {} : { url: pathAndQuery };
}

/** Whether the path is that of the URL of the site, letter by letter. */
export function isExactly(path: string, url: string, site: Site): boolean {
  return isOfSite(url, site) && decodePath(pathAndQueryOf(url, site)) === `/${path}`;
}

/** Whether a deployment serves the file at this URL of the site even if the manifest doesn't name the URL. */
export function isImpliedBy(path: string, url: string, site: Site): boolean {
  const [pathname = ''] = pathAndQueryOf(url, site).split('?');
  const name = decodePath(pathname).slice(1);
  return path === name || path === `${name}.html` || (name.endsWith('/') && path === `${name}index.html`);
}

function pathAndQueryOf(url: string, site: Site): string {
  return url.slice(`https://${site.domain}`.length);
}
