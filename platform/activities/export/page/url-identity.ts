import type { ExternalPolicy, Resource, Site } from './types.ts';

/**
 * The one spelling of an address: absolute, without a fragment, escapes in upper case and only where needed, and on
 * `https://{domain}` where it names the site by its domain (http or https) or by its origin. Undefined for anything
 * that isn't http(s) or can't be parsed. `base` is the address a relative `url` is resolved against.
 */
export function normalizeUrl(url: string, _site: Site, base?: string): string | undefined {
  return URL.canParse(url, base) ? new URL(url, base).href : undefined;
}

/** Whether a normalised address is of the site. */
export function isOfSite(url: string, site: Site): boolean {
  return url.startsWith(`https://${site.domain}/`);
}

/** The address to ask for: the site's own are asked at its origin, all others where they say. */
export function originUrl(url: string, site: Site): string {
  return isOfSite(url, site) ? site.origin + url.slice(`https://${site.domain}`.length) : url;
}

/** Whether the crawl should fetch a resource (the table at `ResourceKind`). */
export function isWanted(resource: Resource, site: Site, external: ExternalPolicy): boolean {
  if (resource.kind === 'endpoint') return false;
  return isOfSite(resource.url, site) || (resource.kind === 'asset' && external === 'bundle');
}
