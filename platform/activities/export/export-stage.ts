import { ApplicationFailure } from '@temporalio/common';
import { EXPORT_IMPOSSIBLE } from '../../../exporter/export-impossible.ts';
import type { Database } from '../../store/database.ts';
import { CANCELLED, updateExportJobProgress } from '../../store/export-job-transitions.ts';
import { type Lively, lively } from '../lively.ts';
import type { ExportDeps } from './export-deps.ts';
import { CRAWL_GONE } from './read-crawl.ts';

/** `progress` in percent. A figure below the stored one changes nothing. */
export type Progress = { progress: number; pageCount: number };

/** Renews the row and leaves its figures as they are. */
export const NO_PROGRESS: Progress = { progress: 0, pageCount: 0 };

/**
 * Runs one stage of an export with a heartbeat every second. Each heartbeat also writes `progress` to the job's row, and
 * the stage fails if that row says that the job was cancelled or has failed. Temporal may never pass on a cancel that was
 * accepted while it was away, and a row that is written every second is none of the reconciler's.
 */
export function exportStage<Result>(
  { db, logger }: Pick<ExportDeps, 'db' | 'logger'>,
  options: { jobId: string; details: () => unknown; progress?: () => Promise<Progress> },
  work: (life: Lively) => Promise<Result>,
): Promise<Result> {
  const { jobId, details, progress = async () => NO_PROGRESS } = options;
  const onTick = async () => writeProgress(db, jobId, await progress());
  return lively({ details, onTick, logger }, work);
}

/** Writes how far a job is. Throws a non-retryable failure if the job was cancelled, has failed or is gone. */
export async function writeProgress(db: Database, jobId: string, progress: Progress): Promise<void> {
  const job = await updateExportJobProgress(db, jobId, progress);
  // The last stage completes the job a moment before it ends.
  if (job?.status === 'completed') return;
  if (job !== undefined && job.cancelRequestedAt !== null) {
    throw ApplicationFailure.nonRetryable(CANCELLED, EXPORT_IMPOSSIBLE);
  }
  if (job === undefined || job.status === 'failed') {
    throw ApplicationFailure.nonRetryable(`The export ${jobId} has ended`, CRAWL_GONE);
  }
}
