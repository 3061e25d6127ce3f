import { Context, sleep } from '@temporalio/activity';
import type { AdminApiAnswer } from './http-client.ts';
import { benignWait, describeAnswer, finalFailure, retryAfterOf } from './outcomes.ts';
import type { PatientCall } from './patient-call.ts';
import { pollDelayMs } from './poll-delay.ts';

/** How a job stands: its end, or that it still runs, as a sentence for people, with the answer that said so. */
export type JobReading<Finished> = { finished: Finished } | { running: string; answer: AdminApiAnswer };

/** Pauses within the first attempt: a server retries no sooner than a second, and small jobs are done before that. */
export const QUICK_ASKS_MS: readonly number[] = [200, 300, 500, 1000];

/**
 * Asks how a job stands and returns when it has ended. While it runs, the activity fails with a benign "StillRunning",
 * so that Temporal asks again by its retry policy: no worker slot and no history between two questions.
 * @param quickAsksMs pauses between the first questions, all within the first attempt.
 */
export async function pollJob<Finished>(
  ask: () => Promise<JobReading<Finished>>,
  quickAsksMs: readonly number[],
): Promise<Finished> {
  const { attempt } = Context.current().info;
  const pausesMs = attempt === 1 ? quickAsksMs : [];
  for (let asked = 0; ; asked++) {
    const reading = await ask();
    if ('finished' in reading) return reading.finished;
    const pauseMs = pausesMs[asked];
    if (pauseMs === undefined) {
      throw benignWait('StillRunning', reading.running, pollDelayMs(attempt, retryAfterOf(reading.answer)));
    }
    await sleep(pauseMs);
  }
}

/** Reads a job at its path. Throws `JobGone` where it is unknown. */
export async function readAt(call: PatientCall, path: string): Promise<AdminApiAnswer> {
  const request = { method: 'GET', path } as const;
  const { verdict, answer } = await call('read', request);
  if (verdict !== 'success') throw finalFailure('JobGone', describeAnswer(request, answer), answer.status);
  return answer;
}
