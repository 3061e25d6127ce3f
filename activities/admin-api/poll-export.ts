import type { CallAdminApi } from './call-admin-api.ts';
import { reportProgress, temporaryFailure } from './call-admin-api.ts';
import type { AdminApiResponse } from './http-client.ts';
import { pollJob, QUICK_ASKS_MS, readAt } from './poll-job.ts';
import type { ExportProgress } from './response-fields.ts';
import { endTimeOf, progressOf, textField } from './response-fields.ts';
import { unreadable } from './start-export.ts';

export type FinishedExport =
  | {
      status: 'completed';
      version: string | null;
      pageCount: number | null;
      /** When the job ended (RFC 3339). Null if the service doesn't say; releases before 0.2 omitted it. */
      exportedAt?: string | null;
    }
  | { status: 'failed'; error: string };

type Reading = { finished: FinishedExport } | { running: string; progress: ExportProgress; response: AdminApiResponse };

/**
 * Polls an export until it ends (poll-job.ts) and reports its progress as the heartbeat and as the pending activity's
 * failure. An unknown status means running.
 */
export function createPollExport(call: CallAdminApi, quickAsksMs: readonly number[] = QUICK_ASKS_MS) {
  return async function pollExport({ jobId }: { jobId: string }): Promise<FinishedExport> {
    return await pollJob(async () => {
      const reading = await readJob(call, jobId);
      return 'finished' in reading ? reading : { ...reading, running: standing(jobId, reading) };
    }, quickAsksMs);
  };
}

function standing(jobId: string, { running, progress }: { running: string; progress: ExportProgress }): string {
  const { percent, pageCount } = progress;
  const far = [percent === null ? '' : `${percent} %`, pageCount === null ? '' : `${pageCount} pages`];
  return [`${jobId} is ${running}`, ...far.filter(Boolean)].join(', ');
}

/** Job ids are opaque, so escape them. */
export function jobPath(jobId: string): string {
  return `/v1/static-export/jobs/${encodeURIComponent(jobId)}`;
}

/** Reads a job. Throws `JobGone` if it is unknown. */
export async function readJob(call: CallAdminApi, jobId: string): Promise<Reading> {
  const response = await readAt(call, jobPath(jobId));
  const status = textField(response, 'status')?.toLowerCase();
  if (status === undefined)
    throw temporaryFailure(unreadable(response.status, 'status', response.text), response.status);
  const progress = progressOf(response);
  reportProgress(progress);
  if (status === 'completed') {
    const version = textField(response, 'version')?.slice(0, 200) ?? null;
    return { finished: { status, version, pageCount: progress.pageCount, exportedAt: endTimeOf(response) } };
  }
  if (status === 'failed') {
    return { finished: { status, error: textField(response, 'error') ?? 'the service gave no reason' } };
  }
  return { running: status, progress, response };
}
