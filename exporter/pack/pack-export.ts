import type { ExportDeps } from '../export-deps.ts';
import { needingObjects } from '../export-failure.ts';
import { reportKey as keyOfReport, workPrefix } from '../object-keys.ts';
import { packProgress } from '../progress.ts';
import { readCrawl } from '../read-crawl.ts';
import { openPreviousCrawl } from '../reuse/previous-export.ts';
import { outlineBundle } from './manifest.ts';
import { packBundle } from './pack-bundle.ts';
import { createReport } from './report.ts';

export type PackedExport = {
  /** `cancelled`: the job's cancel was accepted before it could complete. */
  state: 'completed' | 'cancelled';
  archiveKey: string;
  sizeBytes: number;
  contentSha256: string;
  pageCount: number;
  fileCount: number;
  brokenLinks: number;
  /** Files copied unchanged from the project's previous archive. */
  reusedFiles: number;
};

/** The job's last stage: writes the archive and the report, then marks the job's row as completed. */
export async function packExport(deps: ExportDeps, jobId: string): Promise<PackedExport> {
  const { store, objects, logger } = deps;
  let bytes = 0;
  let totalBytes = 0;
  const details = () => ({ bytes, totalBytes });
  const progress = async () => ({ progress: packProgress({ bytes, totalBytes }), pageCount: 0 });
  return deps.runStage({ jobId, details, progress }, async ({ signal }) => {
    const crawl = await readCrawl(store, jobId);
    const { settings } = crawl;
    await openPreviousCrawl(deps, crawl);
    const outline = await outlineBundle(store, settings, crawl);
    const { head, reuse } = outline;
    totalBytes = 2 * outline.members.reduce((sum, member) => sum + member.byteLength, 0);
    const onBytes = (read: number) => {
      bytes += read;
    };
    const { gzipLevel } = deps.limits;
    // In parallel: the report uses the database, the archive the disk.
    const [archive, unchangedAddresses, content] = await Promise.all([
      needingObjects(packBundle(objects, outline, { gzipLevel, onBytes, signal })),
      store.countReused(jobId, workPrefix(jobId)),
      createReport(store, settings, crawl),
    ]);
    const report = { ...content, reuse: { unchangedAddresses, ...reuse } };
    const reportKey = keyOfReport(jobId);
    await objects.put(reportKey, Buffer.from(JSON.stringify(report)), { contentType: 'application/json' });
    const { contentSha256, pageCount } = head;
    const completed = await store.completeExport(jobId, { ...archive, contentSha256, pageCount, reportKey });
    if (crawl.keep && !completed.isReusable) logger.info({ jobId }, 'The next export takes nothing from this one');
    return {
      state: completed.state,
      archiveKey: archive.archiveKey,
      sizeBytes: archive.archiveSizeBytes,
      contentSha256,
      pageCount,
      fileCount: reuse.files,
      brokenLinks: report.counts.brokenLinks,
      reusedFiles: reuse.reusedFiles,
    };
  });
}
