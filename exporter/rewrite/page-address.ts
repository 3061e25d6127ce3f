import type { BundleFile } from '../../contract/bundle.ts';
import type { Site } from '../document/types.ts';
import { isOfSite } from '../document/url-identity.ts';

/** What the manifest can't hold: an address that a browser would read as another host's. */
const LEADS_ELSEWHERE = /^\/[/\\]/;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * A page's own address at the origin, path and query, as the manifest's `url`; nothing where the path in the bundle
 * says the same, and nothing for what isn't a page. `url` is normalised (`normalizeUrl`).
 */
export function pageAddress(
  { url, path, isPage }: { url: string; path: string; isPage: boolean },
  site: Site,
): Pick<BundleFile, 'url'> {
  if (!isPage || !isOfSite(url, site)) return {};
  const address = url.slice(`https://${site.domain}`.length);
  if (decoded(address) === `/${path}` || LEADS_ELSEWHERE.test(address)) return {};
  return { url: address };
}
