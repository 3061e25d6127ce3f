import { and, eq, gt } from 'drizzle-orm';
import type { Executor } from './database.ts';
import type { ExportJobRow } from './export-jobs.ts';
import { exportJobs, exportPreviews } from './schema/export-jobs.ts';

export async function insertPreview(
  db: Executor,
  preview: { tokenSha256: string; jobId: string; expiresAt: Date },
): Promise<void> {
  await db.insert(exportPreviews).values(preview);
}

/** The job that is served under a token; undefined if there is none, or its time is over. */
export async function findPreviewedJob(
  db: Executor,
  { tokenSha256, at }: { tokenSha256: string; at: Date },
): Promise<ExportJobRow | undefined> {
  const [row] = await db
    .select({ job: exportJobs })
    .from(exportPreviews)
    .innerJoin(exportJobs, eq(exportJobs.id, exportPreviews.jobId))
    .where(and(eq(exportPreviews.tokenSha256, tokenSha256), gt(exportPreviews.expiresAt, at)));
  return row?.job;
}
