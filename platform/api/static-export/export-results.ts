import type { RequestHandler } from 'express';
import { type Bundle, type ExportReport, exportReport } from '../../../contract/admin-api.ts';
import { authenticate } from '../authenticate.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { findOwnJob, requireCompleted, requireEnterprise } from './export-job-view.ts';

/** `POST /v1/static-export/jobs/{jobId}/bundle`: a new link to the archive that was packed when the job completed. */
export function bundleHandler({ db, objects, publicUrl, bundleLinkTtlMs }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const job = await findOwnJob(db, caller, request.params.jobId);
    requireEnterprise(caller);
    const { archiveKey, archiveSha256, archiveSizeBytes } = requireCompleted(job);
    const link = await objects.presign(archiveKey, { ttlMs: bundleLinkTtlMs, fileName: 'bundle.tar.gz' });
    const bundle: Bundle = {
      jobId: job.id,
      bundleUrl: absolute(link.url, publicUrl()),
      expiresAt: link.expiresAt.toISOString(),
      sizeBytes: archiveSizeBytes,
      sha256: archiveSha256,
      version: job.version,
    };
    response.json(bundle);
  };
}

/** `GET /v1/static-export/jobs/{jobId}/report`: an empty one if the job failed before it had anything to report. */
export function reportHandler({ db, objects }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const job = await findOwnJob(db, caller, request.params.jobId);
    requireEnterprise(caller);
    const reportKey = job.status === 'failed' ? job.reportKey : requireCompleted(job).reportKey;
    const stored: unknown =
      reportKey === null ? emptyReport(job.id) : JSON.parse((await objects.read(reportKey)).toString());
    response.json(exportReport.parse(stored));
  };
}

function emptyReport(jobId: string): ExportReport {
  const counts = { brokenLinks: 0, redirects: 0, skippedPages: 0 };
  return {
    jobId,
    brokenLinks: [],
    redirects: [],
    skippedPages: [],
    leftOut: [],
    notices: [],
    truncated: false,
    counts,
  };
}

/** A link to the platform itself, under its public URL, which may have a path. */
function absolute(url: string, publicUrl: string): string {
  return url.startsWith('/') ? publicUrl.replace(/\/+$/, '') + url : url;
}
