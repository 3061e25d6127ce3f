import type { BundleFile, BundleManifest, BundleRedirect } from '../../../../contract/bundle.ts';
import { settledBatches } from '../../../store/crawl-batches.ts';
import type { Database } from '../../../store/database.ts';
import { mappedRedirects } from '../../../store/frontier-map.ts';
import { createManifest } from '../archive/manifest.ts';
import { isOfSite } from '../page/url-identity.ts';
import { parsePieces } from '../reuse/stored-piece.ts';
import { type Extent, joinExtents } from '../segment-store.ts';
import type { ExportSettings } from '../settings.ts';

/** How much of an archive was taken over from the project's last one. */
export type ArchiveReuse = { files: number; reusedFiles: number };

function onSite(url: string, settings: ExportSettings): string {
  return isOfSite(url, settings.site) ? url.slice(`https://${settings.site.domain}`.length) : url;
}

/** The bundle's manifest and where the pieces of the archive lie, in order. */
export async function readBundle(
  db: Database,
  settings: ExportSettings,
  { pageCount }: { pageCount: number },
): Promise<{ manifest: BundleManifest; members: Extent[]; reuse: ArchiveReuse }> {
  const { jobId, version, createdAt, site } = settings;
  const files: BundleFile[] = [];
  const members: Extent[] = [];
  let reusedFiles = 0;
  for await (const batch of settledBatches(db, jobId)) {
    const batchFiles: BundleFile[] = JSON.parse(batch.filesJson);
    for (const file of batchFiles) files.push(file);
    const { objectKey, sizeBytes, partsJson } = batch;
    const parts: Extent[] =
      partsJson === null ? [{ objectKey, byteOffset: 0, byteLength: sizeBytes }] : JSON.parse(partsJson);
    members.push(...parts);
    for (const { fileCount, reused } of parsePieces(batch.piecesJson)) if (reused) reusedFiles += fileCount;
  }
  const redirects: BundleRedirect[] = [];
  for await (const rows of mappedRedirects(db, jobId)) {
    for (const { url, redirectTo, status } of rows) {
      if (!isOfSite(url, site)) continue;
      redirects.push({ from: onSite(url, settings), to: onSite(redirectTo, settings), status });
    }
  }
  const manifest = createManifest({ jobId, domain: site.domain, version, createdAt, pageCount, files, redirects });
  return { manifest, members: joinExtents(members), reuse: { files: files.length, reusedFiles } };
}
