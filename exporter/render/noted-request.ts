import type { Resource, Site } from '../document/types.ts';
import { isOfSite } from '../document/url-identity.ts';

/**
 * What of other hosts the bundle holds because a browser asked for it: data is asked for by an address that scripts put
 * together. Pictures aren't among it: those that are seen stand in the page or its styles, which are read; the others
 * count visitors, and are named anew each time.
 */
const BUNDLED_TYPES: ReadonlySet<string> = new Set(['stylesheet', 'script', 'font']);

/** What a browser's request adds to the export; undefined for nothing. `type` is Playwright's, `url` a public address. */
export function notedRequest(type: string, url: string, site: Site): Resource | undefined {
  if (!isOfSite(url, site)) return BUNDLED_TYPES.has(type) ? { url, kind: 'asset' } : undefined;
  // Scripts name it by an address that nothing rewrites, so it keeps its exact name. A host of files answers one
  // file for every query string.
  return { url: url.replace(/\?.*$/, ''), kind: 'probe' };
}
