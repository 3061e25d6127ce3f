import type { BundleFile, BundleManifest } from '../../../../contract/bundle.ts';

export type ManifestInput = Omit<BundleManifest, 'formatVersion' | 'contentSha256'>;

/** The manifest of a bundle: files and redirects sorted, `contentSha256` over paths and file hashes. */
export function createManifest(_input: ManifestInput): BundleManifest {
  throw new Error('not built yet');
}

/** The order of files in a bundle: by path, UTF-16 code units. */
export function byPath(a: Pick<BundleFile, 'path'>, b: Pick<BundleFile, 'path'>): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}
