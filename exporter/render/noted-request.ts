import type { Resource, Site } from '../document/types.ts';
import { isOfSite } from '../document/url-identity.ts';

/**
 * Types of files from other hosts to bundle when the browser requests them. Not data, whose URLs scripts compose. Not
 * images: visible ones are in the markup or styles, and the rest are tracking pixels with a new URL each time.
 */
const BUNDLED_TYPES: ReadonlySet<string> = new Set(['stylesheet', 'script', 'font']);

/** The resource that a browser's request adds to the export, if any. `type` is Playwright's, `url` a public URL. */
export function notedRequest(type: string, url: string, site: Site): Resource | undefined {
  if (!isOfSite(url, site)) return BUNDLED_TYPES.has(type) ? { url, kind: 'asset' } : undefined;
  // Scripts request it by a URL that is never rewritten, so it keeps its exact name. Static hosts ignore the query.
  return { url: url.replace(/\?.*$/, ''), kind: 'probe' };
}
