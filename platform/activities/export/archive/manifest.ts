import { createHash } from 'node:crypto';
import {
  BUNDLE_FORMAT_VERSION,
  type BundleFile,
  type BundleManifest,
  contentDigestLine,
} from '../../../../contract/bundle.ts';

export type ManifestInput = Omit<BundleManifest, 'formatVersion' | 'contentSha256'>;

/** The manifest of a bundle: files and redirects sorted, `contentSha256` over paths and file hashes. */
export function createManifest(input: ManifestInput): BundleManifest {
  const files = [...input.files].sort(byPath);
  const digest = createHash('sha256');
  for (const file of files) digest.update(contentDigestLine(file));
  return {
    formatVersion: BUNDLE_FORMAT_VERSION,
    jobId: input.jobId,
    domain: input.domain,
    version: input.version,
    createdAt: input.createdAt,
    contentSha256: digest.digest('hex'),
    pageCount: input.pageCount,
    files,
    redirects: [...input.redirects].sort((a, b) => compare(a.from, b.from)),
  };
}

/** The order of files in a bundle: by path, UTF-16 code units. */
export function byPath(a: Pick<BundleFile, 'path'>, b: Pick<BundleFile, 'path'>): number {
  return compare(a.path, b.path);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
