import type { ExportChanges, ExportReport } from '../../../contract/admin-api.ts';
import { type BundleFile, bundleManifest } from '../../../contract/bundle.ts';

// What a thread of `readExportChanges` can do.

type BrokenLinks = ExportReport['brokenLinks'];

/** A completed export: the bytes of its manifest, and what its report says of broken links. */
export type StoredExport = { jobId: string; manifest: Uint8Array; brokenLinks: BrokenLinks };

/** What is known of a completed export. */
type ExportContent = { jobId: string; files: readonly BundleFile[]; brokenLinks: BrokenLinks };

export function begin(): void {}

/** The manifests of large sites have tens of megabytes. */
export function compareStored({ before, now }: { before: StoredExport | undefined; now: StoredExport }): ExportChanges {
  return compareExports(before && contentOf(before), contentOf(now));
}

function contentOf({ jobId, manifest, brokenLinks }: StoredExport): ExportContent {
  const { files } = bundleManifest.parse(JSON.parse(Buffer.from(manifest).toString()));
  return { jobId, files, brokenLinks };
}

/** Precompressed siblings don't count: they change with their files. */
export function compareExports(before: ExportContent | undefined, now: ExportContent): ExportChanges {
  const hashes = hashesByPath(before?.files ?? []);
  const paths = hashesByPath(now.files);
  const alreadyBroken = new Set(before?.brokenLinks.map(({ url }) => url));
  return {
    since: before?.jobId ?? null,
    added: [...paths.keys()].filter((path) => !hashes.has(path)),
    changed: [...paths]
      .filter(([path, sha256]) => hashes.has(path) && hashes.get(path) !== sha256)
      .map(([path]) => path),
    removed: [...hashes.keys()].filter((path) => !paths.has(path)),
    newlyBroken: now.brokenLinks
      .filter(({ url }) => !alreadyBroken.has(url))
      .flatMap(({ url, referrers }) => referrers.map((referrer) => ({ link: url, referrer }))),
  };
}

/** The hashes in the manifest's order, which is by path. */
function hashesByPath(files: readonly BundleFile[]): Map<string, string> {
  return new Map(files.flatMap(({ path, sha256, encoding }) => (encoding === undefined ? [[path, sha256]] : [])));
}
