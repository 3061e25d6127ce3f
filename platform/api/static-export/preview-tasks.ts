import { type Resolved, resolveRequest } from '../../../bundle/resolve-request.ts';
import { createSiteLookup, type SiteLookup } from '../../../bundle/site-lookup.ts';
import { bundleManifest } from '../../../contract/bundle.ts';

// What the thread of previews can do.

/** Sites kept in memory. The largest manifests have tens of megabytes. */
const MAX_SITES = 4;

type Site = { lookup: SiteLookup; basePath: string | undefined };

/** By archive, the last one used at the end. */
const sites = new Map<string, Site>();

export type Question = {
  archiveSha256: string;
  /** Path and query. */
  target: string;
  /** The bytes of the archive's manifest, if the thread didn't know them. */
  manifest?: Uint8Array;
};

/** `unknown`: ask again with the manifest. */
export type Answer = { found: Resolved; basePath: string | undefined } | 'unknown';

export function begin(): void {}

/** What a deployment of this bundle would send for a request. */
export function resolveTarget({ archiveSha256, target, manifest }: Question): Answer {
  const site = sites.get(archiveSha256) ?? (manifest && siteOf(manifest));
  if (site === undefined) return 'unknown';
  sites.delete(archiveSha256);
  sites.set(archiveSha256, site);
  const [oldest] = sites.keys();
  if (sites.size > MAX_SITES && oldest !== undefined) sites.delete(oldest);
  const found = resolveRequest(target, site.lookup);
  if (found.kind !== 'not-found' || found.page !== undefined) return { found, basePath: site.basePath };
  const file = site.lookup.file('404.html');
  return { found: { ...found, ...(file && { page: { file, status: 404 } }) }, basePath: site.basePath };
}

function siteOf(bytes: Uint8Array): Site {
  const manifest = bundleManifest.parse(JSON.parse(Buffer.from(bytes).toString()));
  return { lookup: createSiteLookup(manifest), basePath: manifest.basePath };
}
