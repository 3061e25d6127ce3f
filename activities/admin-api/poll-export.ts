import type { ExportProgress } from './answer-fields.ts';
import { endTimeOf, progressOf, textField } from './answer-fields.ts';
import type { AdminApiAnswer } from './http-client.ts';
import type { PatientCall } from './patient-call.ts';
import { reportProgress, troubleFailure } from './patient-call.ts';
import { pollJob, QUICK_ASKS_MS, readAt } from './poll-job.ts';
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

type Reading = { finished: FinishedExport } | { running: string; progress: ExportProgress; answer: AdminApiAnswer };

/**
 * Polls an export until it ends (poll-job.ts) and reports its progress as the heartbeat and as the pending activity's
 * failure. An unknown status means running.
 */
export function createPollExport(call: PatientCall, quickAsksMs: readonly number[] = QUICK_ASKS_MS) {
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
export async function readJob(call: PatientCall, jobId: string): Promise<Reading> {
  const answer = await readAt(call, jobPath(jobId));
  const status = textField(answer, 'status')?.toLowerCase();
  if (status === undefined) throw troubleFailure(unreadable(answer.status, 'status', answer.text), answer.status);
  const progress = progressOf(answer);
  reportProgress(progress);
  if (status === 'completed') {
    const version = textField(answer, 'version')?.slice(0, 200) ?? null;
    return { finished: { status, version, pageCount: progress.pageCount, exportedAt: endTimeOf(answer) } };
  }
  if (status === 'failed') {
    return { finished: { status, error: textField(answer, 'error') ?? 'the service gave no reason' } };
  }
  return { running: status, progress, answer };
}
