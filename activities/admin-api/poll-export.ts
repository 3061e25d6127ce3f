import { z } from 'zod';
import type { AdminApiResponse, ExportJob } from '../../client/admin-api-client.ts';
import { statusText, time } from '../../client/job-schemas.ts';
import { type CallAdminApi, type ExportProgress, reportProgress } from './call-admin-api.ts';
import { pollJob, QUICK_ASKS_MS, readOrGone } from './poll-job.ts';
import type { ExportRef, StaticExport } from './static-export.ts';

export type FinishedExport =
  | {
      status: 'completed';
      version: string | null;
      pageCount: number | null;
      /** When the job ended (RFC 3339). Null if the service doesn't say. */
      exportedAt: string | null;
    }
  | { status: 'failed'; error: string };

type Reading = { finished: FinishedExport } | { running: string; progress: ExportProgress; response: AdminApiResponse };

/**
 * Polls an export until it ends (poll-job.ts) and reports its progress as the heartbeat and as the pending activity's
 * failure. An unknown status means running.
 */
export function createPollExport(call: CallAdminApi<StaticExport>, quickAsksMs: readonly number[] = QUICK_ASKS_MS) {
  return async function pollExport(ref: ExportRef): Promise<FinishedExport> {
    return await pollJob(async () => {
      const reading = await readJob(call, ref);
      return 'finished' in reading ? reading : { ...reading, running: standing(ref.jobId, reading) };
    }, quickAsksMs);
  };
}

function standing(jobId: string, { running, progress }: { running: string; progress: ExportProgress }): string {
  const { percent, pageCount } = progress;
  const far = [percent === null ? '' : `${percent} %`, pageCount === null ? '' : `${pageCount} pages`];
  return [`${jobId} is ${running}`, ...far.filter(Boolean)].join(', ');
}

/** Reads a job. Throws `JobGone` if it is unknown. */
export async function readJob(call: CallAdminApi<StaticExport>, ref: ExportRef): Promise<Reading> {
  const outcome = await call('read', (exports, options) => exports.get(ref, options));
  const { job, response } = readOrGone(outcome);
  const progress = { percent: job.progress, pageCount: job.pageCount };
  reportProgress(progress);
  if (job.status === 'completed') {
    const version = shortVersion(job);
    return { finished: { status: 'completed', version, pageCount: job.pageCount, exportedAt: endTimeOf(response) } };
  }
  if (job.status === 'failed') {
    return { finished: { status: 'failed', error: job.error?.trim().slice(0, 500) ?? 'the service gave no reason' } };
  }
  return { running: word.parse(response.body).status.slice(0, 500), progress, response };
}

/** The service's own word for a job that is running. */
const word = z.object({ status: statusText });

/** Services name the end time differently; the contract has `completedAt`. */
const endTimes = z.object({ completedAt: time, finishedAt: time, updatedAt: time });

/** When a completed job ended, as RFC 3339; null if the service doesn't say. */
export function endTimeOf({ body }: AdminApiResponse): string | null {
  const { completedAt = null, finishedAt = null, updatedAt = null } = endTimes.safeParse(body).data ?? {};
  return completedAt ?? finishedAt ?? updatedAt;
}

/** The workflow keeps it. */
export function shortVersion({ version }: Pick<ExportJob, 'version'>): string | null {
  return version?.trim().slice(0, 200) ?? null;
}
