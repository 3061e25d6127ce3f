import type { ExportJob } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import { type Caller, isOwn } from '../../store/api-keys.ts';
import type { Database } from '../../store/database.ts';
import { type ExportJobRow, getExportJob } from '../../store/export-jobs.ts';
import { isStorable } from '../../store/storable-text.ts';

/** A row as the API shows it. */
export function exportJobView(row: ExportJobRow): ExportJob {
  return {
    jobId: row.id,
    status: row.status,
    progress: row.progress,
    pageCount: row.pageCount,
    version: row.version,
    domain: row.domain,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    error: row.error,
  };
}

/**
 * The caller's job. Throws 404 if it doesn't exist or belongs to another organization: both look alike from outside.
 */
export async function findOwnJob(db: Database, caller: Caller, jobId: unknown): Promise<ExportJobRow> {
  const row = typeof jobId === 'string' && isStorable(jobId) ? await getExportJob(db, jobId) : undefined;
  if (row === undefined || !isOwn(caller, row)) {
    throw new HttpError(404, 'There is no such export job');
  }
  return row;
}

/** Throws 403 without the Enterprise plan, which every static export endpoint needs. */
export function requireEnterprise(caller: Caller): void {
  if (caller.plan !== 'enterprise') throw new HttpError(403, 'Static export needs the Enterprise plan');
}

/** The caller's job, of the project if one is named, with the plan that its results need. Throws 403 and 404. */
export async function findExport(
  db: Database,
  caller: Caller,
  jobId: unknown,
  projectId?: unknown,
): Promise<ExportJobRow> {
  const job = await findOwnJob(db, caller, jobId);
  if (projectId !== undefined && projectId !== job.projectId) throw new HttpError(404, 'There is no such export job');
  requireEnterprise(caller);
  return job;
}

/** Throws 410 if the job's archive and report were given up. */
export function requireKept({ id, expiredAt }: ExportJobRow): void {
  if (expiredAt !== null) throw new HttpError(410, `The export ${id} is no longer stored: export the site again`);
}

/** What a completed job has. Throws 409 for any other, and 410 if it is no longer stored. */
export function requireCompleted(job: ExportJobRow) {
  const { id, status, archiveKey, archiveSha256, archiveSizeBytes, reportKey } = job;
  if (status !== 'completed') throw new HttpError(409, `The export ${id} is ${status}, not completed`);
  requireKept(job);
  if (archiveKey === null || archiveSha256 === null || archiveSizeBytes === null || reportKey === null) {
    throw new Error(`The completed export ${id} lacks its archive`);
  }
  return { archiveKey, archiveSha256, archiveSizeBytes, reportKey };
}
