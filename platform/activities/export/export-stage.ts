import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { CANCELLED } from '../../../contract/admin-api.ts';
import type { ExportFailureType } from '../../../exporter/export-failure.ts';
import { NO_PROGRESS, type Progress, type RunStage } from '../../../exporter/stage.ts';
import type { Database } from '../../store/database.ts';
import { updateExportJobProgress } from '../../store/export-job-transitions.ts';
import { withHeartbeat } from '../with-heartbeat.ts';

/**
 * Runs stages with a heartbeat every second. Each heartbeat also writes `progress` to the job's row, and the stage fails
 * if that row says that the job was canceled or has failed: Temporal may never deliver a cancel that was accepted while
 * it was away. The reconciler leaves a job alone whose row is written every second.
 */
export function createStageRunner({ db, logger }: { db: Database; logger: Logger }): RunStage {
  return ({ jobId, details, progress = async () => NO_PROGRESS }, work) => {
    const report = (reached: Progress) => writeProgress(db, jobId, reached);
    const onTick = async () => report(await progress());
    return withHeartbeat({ details, onTick, logger }, (heartbeat) => work({ ...heartbeat, report }));
  };
}

/** Writes how far a job is. Throws a non-retryable failure if the job was canceled, has failed or is gone. */
async function writeProgress(db: Database, jobId: string, progress: Progress): Promise<void> {
  const job = await updateExportJobProgress(db, jobId, progress);
  // The last stage completes the job a moment before it ends.
  if (job?.status === 'completed') return;
  if (job !== undefined && job.cancelRequestedAt !== null) {
    throw ApplicationFailure.nonRetryable(CANCELLED, 'ExportImpossible' satisfies ExportFailureType);
  }
  if (job === undefined || job.status === 'failed') {
    throw ApplicationFailure.nonRetryable(`The export ${jobId} has ended`, 'CrawlGone' satisfies ExportFailureType);
  }
}
