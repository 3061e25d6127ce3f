import type { BundleFile } from '../../contract/bundle.ts';
import type { Site } from '../document/types.ts';
import { isOfSite } from '../document/url-identity.ts';

/** A URL that a browser would take for another host's, which the manifest can't hold. */
const LEADS_ELSEWHERE = /^\/[/\\]/;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * A page's path and query at the origin, as the manifest's `url`; nothing if the path in the bundle is the same, or if
 * it isn't a page. `url` is normalised (`normalizeUrl`).
 */
export function pageUrl(
  { url, path, isPage }: { url: string; path: string; isPage: boolean },
  site: Site,
): Pick<BundleFile, 'url'> {
  if (!isPage || !isOfSite(url, site)) return {};
  const pathAndQuery = url.slice(`https://${site.domain}`.length);
  if (decoded(pathAndQuery) === `/${path}` || LEADS_ELSEWHERE.test(pathAndQuery)) return {};
  return { url: pathAndQuery };
}
