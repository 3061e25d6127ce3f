import { type Bundle, type ExportReport, exportReport } from '../../../contract/admin-api.ts';
import type { StoredProof } from '../../../exporter/assemble/prove-archive.ts';
import { ObjectMissingError } from '../../../exporter/export-failure.ts';
import { proofKey } from '../../../exporter/object-keys.ts';
import { HttpError } from '../../../web/http-error.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { type ExportJobRow, noteLinkRequest } from '../../store/export-jobs.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { requireCompleted, requireKept } from './export-job-view.ts';

/** A new link to the archive that was packed when the job completed. Throws 409 if it hasn't, 410 if it isn't stored. */
export async function createBundleLink(
  context: Pick<ApiContext, 'db' | 'objects' | 'bundlesUrl' | 'bundleLinkTtlMs' | 'now'>,
  job: ExportJobRow,
): Promise<Bundle> {
  // Noted first, so that the archive outlives the link.
  const { archiveKey, archiveSha256, archiveSizeBytes } = requireCompleted(
    await noteLinkRequest(context.db, job, context.now()),
  );
  const ttlMs = context.bundleLinkTtlMs;
  const link = await context.objects.presign(archiveKey, { ttlMs, fileName: 'bundle.tar.gz' });
  return {
    jobId: job.id,
    bundleUrl: absoluteUrl(link.url, context.bundlesUrl()),
    expiresAt: link.expiresAt.toISOString(),
    sizeBytes: archiveSizeBytes,
    sha256: archiveSha256,
    ...(job.manifestSha256 !== null && { manifestSha256: job.manifestSha256 }),
    version: job.version,
  };
}

/** A job's findings; empty if it failed before it had any. Throws 409 while the job runs, 410 if they aren't stored. */
export async function readReport(objects: Pick<ObjectStore, 'read'>, job: ExportJobRow): Promise<ExportReport> {
  requireKept(job);
  const reportKey = job.status === 'failed' ? job.reportKey : requireCompleted(job).reportKey;
  const stored: unknown =
    reportKey === null ? emptyReport(job.id) : JSON.parse((await objects.read(reportKey)).toString());
  return exportReport.parse(stored);
}

/** The report with links to its proof, which members can open. */
export async function readLinkedReport(
  { objects, publicUrl }: Pick<ApiContext, 'objects' | 'publicUrl'>,
  job: ExportJobRow,
): Promise<ExportReport> {
  const report = await readReport(objects, job);
  if (report.proof === undefined || report.proof.counts.pages === 0) return report;
  const link = (form: ProofForm) => absoluteUrl(proofPath(job.id, form), publicUrl());
  return { ...report, proof: { ...report.proof, html: link('html'), json: link('json') } };
}

export type ProofForm = 'html' | 'json';

/** The path in the dashboard. */
export function proofPath(jobId: string, form: ProofForm): string {
  return `/ui/exports/${jobId}/proof.${form}`;
}

/** The proof of a completed job's bundle. Throws 404 if it has none, 409 and 410 like its report. */
export async function readProof(objects: Pick<ObjectStore, 'read'>, job: ExportJobRow): Promise<StoredProof> {
  requireCompleted(job);
  try {
    return JSON.parse((await objects.read(proofKey(job.id))).toString());
  } catch (error) {
    if (error instanceof ObjectMissingError) throw new HttpError(404, `The export ${job.id} has no proof`);
    throw error;
  }
}

function emptyReport(jobId: string): ExportReport {
  const counts = { brokenLinks: 0, brokenAnchors: 0, redirects: 0, skippedPages: 0, originUrls: 0 };
  return {
    jobId,
    brokenLinks: [],
    brokenAnchors: [],
    redirects: [],
    skippedPages: [],
    leftOut: [],
    unread: [],
    originUrls: [],
    notices: [],
    truncated: false,
    counts,
  };
}

/** A link to the platform itself, under its public URL, which may have a path. */
export function absoluteUrl(url: string, publicUrl: string): string {
  return url.startsWith('/') ? publicUrl.replace(/\/+$/, '') + url : url;
}
