import { canonicalPathAndQuery } from '../../bundle/url.ts';

const OTHER_SCHEME = /^[\s\0]*(?!https?:)[a-z][a-z0-9+.-]*:/i;

/**
 * The normalized form of a URL: absolute, without a fragment, its path and query canonical (`bundle/url.ts`). The site's
 * domain (http or https) and its origin become `https://{domain}`. Undefined for URLs that aren't http(s), carry
 * credentials or can't be parsed. A relative `url` is resolved against `base`.
 */
export function normalizeUrl(url: string, site: Site, base?: string): string | undefined {
  if (OTHER_SCHEME.test(url)) return undefined;
  const parsed = parse(url, base);
  if (parsed === undefined || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return undefined;
  if (parsed.username !== '' || parsed.password !== '') return undefined;
  const hostname = withoutRootDot(parsed.hostname);
  if (hostname === '' || hostname.endsWith('.')) return undefined;
  return publicOrigin(parsed, hostname, site) + canonicalPathAndQuery(parsed);
}

/** A path of names without anything to escape. Only `../` and `./` at its start need resolving. */
const PLAIN_PATH = /^(?!$)(?:\/|(?:\.\.?\/)*)(?:[\w~][\w~.-]*\/)*(?:[\w~][\w~.-]*)?$/;
/** The pattern's stack grows with the path. */
const MAX_PLAIN_LENGTH = 2_000;
/** No path starts earlier: after `http://` comes a host. */
const FIRST_PATH_AT = 'https://'.length;

/**
 * The same as `normalizeUrl`, for a base that `normalizeUrl` leaves as it is. Resolves most links of a page without the
 * URL parser, which would take an eighth of the time that reading the page takes.
 */
export function normalizeReference(url: string, site: Site, base: string): string | undefined {
  const isPlain = url.length <= MAX_PLAIN_LENGTH && PLAIN_PATH.test(url);
  return isPlain ? resolvePlainPath(url, base) : normalizeUrl(url, site, base);
}

function resolvePlainPath(path: string, base: string): string {
  const root = base.indexOf('/', FIRST_PATH_AT);
  if (path.startsWith('/')) return base.slice(0, root) + path;
  const query = base.indexOf('?', root);
  let folderEnd = base.lastIndexOf('/', query < 0 ? base.length : query);
  let from = 0;
  while (path.startsWith('.', from)) {
    const isParent = path.startsWith('..', from);
    if (isParent && folderEnd > root) folderEnd = base.lastIndexOf('/', folderEnd - 1);
    from += isParent ? 3 : 2;
  }
  return base.slice(0, folderEnd + 1) + path.slice(from);
}

function parse(url: string, base: string | undefined): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

/** `docs.example.com.` names the same host as `docs.example.com`. */
function withoutRootDot(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

function publicOrigin(url: URL, hostname: string, site: Site): string {
  const isDomain = hostname === site.domain && url.port === '';
  if (isDomain || url.origin === site.origin) return `https://${site.domain}`;
  return url.port === '' ? `${url.protocol}//${hostname}` : `${url.protocol}//${hostname}:${url.port}`;
}

/** Whether a normalized URL belongs to the site. */
export function isOfSite(url: string, site: Site): boolean {
  return url.startsWith(`https://${site.domain}/`);
}

/** The public URL of the site's URL in an export that will be mounted below the domain. Others, and mounted ones, stay. */
export function mounted(url: string, site: Site): string {
  const { basePath = '' } = site;
  if (basePath === '' || !isOfSite(url, site)) return url;
  const home = `https://${site.domain}`;
  const rest = url.slice(home.length);
  const isMounted = rest.startsWith(basePath) && /^(?:[/?#]|$)/.test(rest.slice(basePath.length));
  return isMounted ? url : home + basePath + rest;
}

/** The URL to request: at the origin if it belongs to the site, else unchanged. */
export function originUrl(url: string, site: Site): string {
  return isOfSite(url, site) ? site.origin + url.slice(`https://${site.domain}`.length) : url;
}

/** A URL in a message for the project's members, who don't learn the origin that an operator set. */
export function shownUrl(url: string, site: Site): string {
  return isOfSite(url, site) && site.origin !== `https://${site.domain}` ? `${url} (at its origin)` : url;
}

/** Whether the crawl should fetch a resource (see the table at `ResourceKind`). Files of `keepHosts` stay links. */
export function isWanted(
  { url, kind }: Resource,
  site: Site,
  { external, keepHosts }: { external: ExternalPolicy; keepHosts: readonly string[] },
): boolean {
  if (kind === 'endpoint' || kind === 'folder' || kind === 'source-map') return false;
  if (isOfSite(url, site)) return true;
  if (kind !== 'asset' || external === 'keep') return false;
  return keepHosts.length === 0 || !URL.canParse(url) || !keepHosts.includes(new URL(url).hostname);
}

/** A site: `domain` is its public name, `origin` the server it is fetched from (scheme, host, port). */
export type Site = {
  /** A DNS name, such as `docs.example.com`; public URLs are `https://{domain}/…`. */
  domain: string;
  /** Such as `http://127.0.0.1:8080`; `https://{domain}` by default. */
  origin: string;
  /** Where the export will be mounted below the domain, such as `/docs`; the root if it is missing. */
  basePath?: string;
};

/**
 * What a reference is for.
 *
 * | kind | fetched | written |
 * |---|---|---|
 * | `page` | on the site | relative if in the bundle, else absolute |
 * | `unfollowed` | as `page`, with `robots: ignore` only (a link with nofollow) | as `page` |
 * | `asset` | on any host (`external: keep`: on the site) | relative; absolute if another host doesn't have it |
 * | `source-map` | as `asset`, with `sourceMaps: keep` only | as `asset`, or removed with its comment |
 * | `folder` | no: a URL prefix that ends in `/` | relative on the site, else absolute |
 * | `probe` | on the site, if it exists (a guess from script text) | relative if in the bundle, else unchanged |
 * | `guess` | on the site, if it exists and the crawl rules allow it (any value that may be the URL of a file) | relative if a file in the bundle that isn't a page, else unchanged |
 * | `identity` | on the site | absolute on the public domain, without a suffix of ours (canonical, `og:url`) |
 * | `card` | on the site | absolute on the public domain (`og:image`: read by external services) |
 * | `endpoint` | no | relative if in the bundle, else absolute (POST forms, `cite`, pingback) |
 */
export type ResourceKind =
  | 'page'
  | 'unfollowed'
  | 'asset'
  | 'source-map'
  | 'folder'
  | 'probe'
  | 'guess'
  | 'identity'
  | 'card'
  | 'endpoint';

/**
 * A URL that a document refers to. `url` is normalized (`normalizeUrl`), without a fragment. `charset`: of a text that
 * declares none, if it isn't UTF-8.
 */
export type Resource = { url: string; kind: ResourceKind; charset?: string };

/** Whether files of other hosts are fetched, or stay links. */
export type ExternalPolicy = 'bundle' | 'keep';
