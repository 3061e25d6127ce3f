import { type Resolved, resolveRequest } from '../../../bundle/resolve-request.ts';
import { createSiteLookup, type SiteLookup } from '../../../bundle/site-lookup.ts';
import { bundleManifest } from '../../../contract/bundle.ts';

// What the thread of previews can do.

/** Sites kept in memory. The largest manifests have tens of megabytes. */
const MAX_SITES = 4;

type Site = Pick<StoredBundle, 'headBytes'> & { lookup: SiteLookup; basePath: string | undefined };

/** By archive, the last one used at the end. */
const sites = new Map<string, Site>();

/** The bytes of an archive's manifest, and the length of its head, from which files are counted. */
export type StoredBundle = { manifest: Uint8Array; headBytes: number };

export type Question = {
  archiveSha256: string;
  /** Path and query. */
  target: string;
  /** If the thread didn't know it. */
  bundle?: StoredBundle;
};

/** `unknown`: ask again with the bundle. */
export type Answer = (Omit<Site, 'lookup'> & { found: Resolved }) | 'unknown';

export function begin(): void {}

/** What a deployment of this bundle would send for a request. */
export function resolveTarget({ archiveSha256, target, bundle }: Question): Answer {
  const site = sites.get(archiveSha256) ?? (bundle && siteOf(bundle));
  if (site === undefined) return 'unknown';
  sites.delete(archiveSha256);
  sites.set(archiveSha256, site);
  const [oldest] = sites.keys();
  if (sites.size > MAX_SITES && oldest !== undefined) sites.delete(oldest);
  const { lookup, ...about } = site;
  const found = resolveRequest(target, lookup);
  const file = found.kind === 'not-found' && found.page === undefined ? lookup.file('404.html') : undefined;
  return { found: file === undefined ? found : { kind: 'not-found', page: { file, status: 404 } }, ...about };
}

function siteOf({ manifest: bytes, headBytes }: StoredBundle): Site {
  const manifest = bundleManifest.parse(JSON.parse(Buffer.from(bytes).toString()));
  return { lookup: createSiteLookup(manifest), basePath: manifest.basePath, headBytes };
}
