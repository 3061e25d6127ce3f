import { resolveRequest } from '../bundle/resolve-request.ts';
import { canonicalPathAndQuery } from '../bundle/url.ts';
import type { ServedSite } from '../deployment/site.ts';
import type { Site } from '../exporter/urls/identity.ts';
import { isOfSite, normalizeUrl } from '../exporter/urls/identity.ts';

const MAX_REDIRECTS = 5;

/** What a URL leads to: a file of the bundle, or a URL that the bundle doesn't have. */
export type Identity = {
  /** Equal for equal targets, whether the origin or the bundle names them. */
  key: string;
  /** For messages: the public URL. */
  shown: string;
  /** Whether the URL leads to the site's origin or domain, although the bundle has its file. */
  leavesBundle: boolean;
  /** Of a URL at another host. */
  host?: string;
};

export type Identify = (url: string) => Identity;

/** Identifies URLs as the origin or the bundle's server (`bundleOrigin`) writes them. */
export function createIdentify(site: Site, bundle: ServedSite, bundleOrigin: string): Identify {
  const known = new Map<string, Identity>();
  function identify(url: string): Identity {
    if (!/^https?:/i.test(url) || !URL.canParse(url)) return { key: url, shown: url, leavesBundle: false };
    const parsed = new URL(url);
    const isBundles = parsed.origin === bundleOrigin;
    const target = isBundles ? canonicalPathAndQuery(parsed) : targetAtSite(url, site);
    if (target === undefined) {
      return { key: externalKey(parsed), shown: parsed.href, leavesBundle: false, host: parsed.host };
    }
    const path = fileOf(target, bundle);
    const shown = `https://${site.domain}${target}${parsed.hash}`;
    // A file of another host is in the bundle under that host's name.
    const external = path === undefined ? null : /^_external\/([^/]+)/.exec(path);
    if (external !== null) return { key: `//${external[1]}`, shown, leavesBundle: false };
    const key = `${path ?? `missing:${target}`}${fragmentOf(parsed)}`;
    return { key, shown, leavesBundle: !isBundles && path !== undefined };
  }
  return (url) => {
    const found = known.get(url) ?? identify(url);
    known.set(url, found);
    return found;
  };
}

/** Whether a link of the bundle leads where the origin's does; a file of another host may be in the bundle. */
export function isSameTarget(origin: Identity, bundle: Identity): boolean {
  return origin.key === bundle.key || (origin.host !== undefined && bundle.key === `//${origin.host}`);
}

function targetAtSite(url: string, site: Site): string | undefined {
  const normalized = normalizeUrl(url, site);
  if (normalized === undefined || !isOfSite(normalized, site)) return undefined;
  return normalized.slice(`https://${site.domain}`.length);
}

function externalKey({ protocol, host, pathname, search, hash }: URL): string {
  return `${protocol}//${host}${canonicalPathAndQuery({ pathname, search })}${hash}`;
}

function fragmentOf({ hash }: URL): string {
  if (hash === '' || hash === '#') return '';
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

function fileOf(target: string, bundle: ServedSite): string | undefined {
  let next = target;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const found = resolveRequest(next, bundle);
    if (found.kind === 'file') return found.file.path;
    if (found.kind !== 'redirect' || !found.location.startsWith('/')) return undefined;
    next = found.location;
  }
  return undefined;
}
