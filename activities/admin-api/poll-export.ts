import { Context, sleep } from '@temporalio/activity';
import type { ExportProgress } from './answer-fields.ts';
import { progressOf, textField } from './answer-fields.ts';
import type { AdminApiAnswer } from './http-client.ts';
import { benignWait, describeAnswer, finalFailure, retryAfterOf } from './outcomes.ts';
import type { PatientCall } from './patient-call.ts';
import { reportProgress, troubleFailure } from './patient-call.ts';
import { pollDelayMs } from './poll-delay.ts';
import { unreadable } from './start-export.ts';

export type FinishedExport =
  | { status: 'completed'; version: string | null; pageCount: number | null }
  | { status: 'failed'; error: string };

type Reading = { finished: FinishedExport } | { running: string; progress: ExportProgress; answer: AdminApiAnswer };

/** Pauses within the first attempt: a server retries no sooner than a second, and small sites are done before that. */
export const QUICK_ASKS_MS: readonly number[] = [200, 300, 500, 1000];

/**
 * Asks once how a job stands and returns when it has ended. While it runs, the activity fails with a benign
 * "StillRunning", so that Temporal asks again by its retry policy: no worker slot and no history between two questions.
 * A status word that isn't known as an end means running.
 */
export function createPollExport(call: PatientCall, quickAsksMs: readonly number[] = QUICK_ASKS_MS) {
  return async function pollExport(input: { jobId: string }): Promise<FinishedExport> {
    const { attempt } = Context.current().info;
    for (const pauseMs of attempt === 1 ? quickAsksMs : []) {
      const reading = await readJob(call, input.jobId);
      if ('finished' in reading) return reading.finished;
      await sleep(pauseMs);
    }
    const reading = await readJob(call, input.jobId);
    if ('finished' in reading) return reading.finished;
    const { percent, pageCount } = reading.progress;
    const progress = [percent === null ? '' : `${percent} %`, pageCount === null ? '' : `${pageCount} pages`];
    throw benignWait(
      'StillRunning',
      [`${input.jobId} is ${reading.running}`, ...progress.filter(Boolean)].join(', '),
      pollDelayMs(attempt, retryAfterOf(reading.answer)),
    );
  };
}

/** Job ids are opaque: whatever stands in one stays one part of the path. */
export function jobPath(jobId: string): string {
  return `/v1/static-export/jobs/${encodeURIComponent(jobId)}`;
}

/** Reads a job. Throws `JobGone` where it is unknown. */
export async function readJob(call: PatientCall, jobId: string): Promise<Reading> {
  const request = { method: 'GET', path: jobPath(jobId) } as const;
  const { verdict, answer } = await call('read', request);
  if (verdict !== 'success') throw finalFailure('JobGone', describeAnswer(request, answer), answer.status);
  const status = textField(answer, 'status')?.toLowerCase();
  if (status === undefined) throw troubleFailure(unreadable(answer.status, 'status', answer.text), answer.status);
  const progress = progressOf(answer);
  reportProgress(progress);
  if (status === 'completed') {
    const version = textField(answer, 'version')?.slice(0, 200) ?? null;
    return { finished: { status, version, pageCount: progress.pageCount } };
  }
  if (status === 'failed') {
    return { finished: { status, error: textField(answer, 'error') ?? 'the service gave no reason' } };
  }
  return { running: status, progress, answer };
}
