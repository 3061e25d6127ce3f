import type { BundleFile, BundleManifest, BundleRedirect } from '../../../../contract/bundle.ts';
import { settledBatches } from '../../../store/crawl-batches.ts';
import type { Database } from '../../../store/database.ts';
import { mappedRedirects } from '../../../store/frontier-map.ts';
import { createManifest } from '../archive/manifest.ts';
import { isOfSite } from '../page/url-identity.ts';
import type { ExportSettings } from '../settings.ts';

/** The piece of the archive that holds these files, as the object store has it. */
export type MemberObject = { objectKey: string; sizeBytes: number };

function onSite(url: string, settings: ExportSettings): string {
  return isOfSite(url, settings.site) ? url.slice(`https://${settings.site.domain}`.length) : url;
}

/** The bundle's manifest and the pieces of the archive in order. */
export async function readBundle(
  db: Database,
  settings: ExportSettings,
  { pageCount }: { pageCount: number },
): Promise<{ manifest: BundleManifest; members: MemberObject[] }> {
  const { jobId, version, createdAt, site } = settings;
  const files: BundleFile[] = [];
  const members: MemberObject[] = [];
  for await (const batch of settledBatches(db, jobId)) {
    const batchFiles: BundleFile[] = JSON.parse(batch.filesJson);
    for (const file of batchFiles) files.push(file);
    members.push({ objectKey: batch.objectKey, sizeBytes: batch.sizeBytes });
  }
  const redirects: BundleRedirect[] = [];
  for await (const rows of mappedRedirects(db, jobId)) {
    for (const { url, redirectTo, status } of rows) {
      if (!isOfSite(url, site)) continue;
      redirects.push({ from: onSite(url, settings), to: onSite(redirectTo, settings), status });
    }
  }
  const manifest = createManifest({ jobId, domain: site.domain, version, createdAt, pageCount, files, redirects });
  return { manifest, members };
}
