import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import { CANCELLED } from '../../contract/admin-api.ts';
import type { Executor } from './database.ts';
import { ACTIVE_STATUSES, type ExportJobRow, getExportJob } from './export-jobs.ts';
import { exportJobs } from './schema/export-jobs.ts';

/**
 * queued → running → completed or failed, and queued → failed. Every statement has a guard, so a late or repeated call
 * can't change an ended job and gets its row unchanged. All are idempotent.
 */

const now = sql`greatest(${exportJobs.updatedAt}, now())`;

type Change = Omit<{ [Column in keyof ExportJobRow]?: ExportJobRow[Column] | SQL }, 'id'>;

async function changeActive(
  db: Executor,
  jobId: string,
  change: Change,
  guard?: SQL,
): Promise<ExportJobRow | undefined> {
  const [row] = await db
    .update(exportJobs)
    .set({ ...change, updatedAt: now })
    .where(and(eq(exportJobs.id, jobId), inArray(exportJobs.status, ACTIVE_STATUSES), guard))
    .returning();
  return row ?? getExportJob(db, jobId);
}

/** The workflow has begun. Returns the current row (undefined: no such job); any status but `running` means stop. */
export function markExportJobRunning(db: Executor, jobId: string): Promise<ExportJobRow | undefined> {
  return changeActive(db, jobId, {
    status: 'running',
    startedAt: sql`coalesce(${exportJobs.startedAt}, now())`,
  });
}

/**
 * Progress (0 to 100) and pages exported so far; a lower number than the stored one changes nothing. The returned row
 * also shows whether the job was canceled meanwhile (`cancelRequestedAt`, or a terminal status).
 */
export function updateExportJobProgress(
  db: Executor,
  jobId: string,
  { progress, pageCount }: { progress: number; pageCount: number },
): Promise<ExportJobRow | undefined> {
  return changeActive(db, jobId, {
    progress: sql`greatest(${exportJobs.progress}, least(${progress}::double precision, 100))`,
    pageCount: sql`greatest(${exportJobs.pageCount}, ${pageCount}::integer)`,
  });
}

type ExportResult = {
  pageCount: number;
  archiveKey: string;
  archiveSha256: string;
  manifestSha256: string;
  archiveSizeBytes: number;
  contentSha256: string;
  reportKey: string;
};

/** Completes a job. If its cancel was accepted before, it fails as canceled. Returns the current row. */
export async function completeExportJob(
  db: Executor,
  jobId: string,
  result: ExportResult,
): Promise<ExportJobRow | undefined> {
  const row = await changeActive(
    db,
    jobId,
    {
      ...result,
      status: 'completed',
      progress: 100,
      pageCount: sql`greatest(${exportJobs.pageCount}, ${result.pageCount}::integer)`,
      error: null,
      finishedAt: sql`now()`,
    },
    isNull(exportJobs.cancelRequestedAt),
  );
  if (row === undefined || row.status === 'completed' || row.status === 'failed') return row;
  return failExportJob(db, jobId, CANCELLED, result.reportKey);
}

/**
 * Fails a job with a message for its owner (`cancelled` if it was). `reportKey`: the object with its report, if any.
 * Returns the current row.
 */
export function failExportJob(
  db: Executor,
  jobId: string,
  error: string,
  reportKey: string | null = null,
): Promise<ExportJobRow | undefined> {
  return changeActive(db, jobId, {
    status: 'failed',
    reportKey,
    error: sql`coalesce(${canceledWord}, ${error})`,
    finishedAt: sql`now()`,
  });
}

/** A canceled job ends as canceled, whatever else fails while it stops. */
const canceledWord = sql`case when ${exportJobs.cancelRequestedAt} is null then null else ${CANCELLED} end`;

/**
 * Cancels an active job: a queued one fails immediately, a running one when its workflow has stopped. `accepted` is
 * false if it had already ended; undefined: no such job.
 */
export async function requestExportJobCancel(
  db: Executor,
  jobId: string,
): Promise<{ accepted: boolean; job: ExportJobRow } | undefined> {
  const queued = sql`${exportJobs.status} = 'queued'`;
  const [job] = await db
    .update(exportJobs)
    .set({
      cancelRequestedAt: sql`coalesce(${exportJobs.cancelRequestedAt}, now())`,
      status: sql`case when ${queued} then 'failed' else ${exportJobs.status} end`,
      error: sql`case when ${queued} then ${CANCELLED} else ${exportJobs.error} end`,
      finishedAt: sql`case when ${queued} then now() else ${exportJobs.finishedAt} end`,
      updatedAt: now,
    })
    .where(and(eq(exportJobs.id, jobId), inArray(exportJobs.status, ACTIVE_STATUSES)))
    .returning();
  if (job !== undefined) return { accepted: true, job };
  const ended = await getExportJob(db, jobId);
  return ended && { accepted: false, job: ended };
}
