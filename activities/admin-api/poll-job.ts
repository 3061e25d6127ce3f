import { Context, sleep } from '@temporalio/activity';
import { backoff } from '../../base/backoff.ts';
import type { AdminApiResponse } from '../../client/admin-api-client.ts';
import type { AdminApiOutcome } from './call-admin-api.ts';
import { benignWait, finalFailure } from './outcomes.ts';

/** A job's state: its end, or a sentence that says it is still running, with the response. */
type JobReading<Finished> = { finished: Finished } | { running: string; response: AdminApiResponse };

/** Pauses within the first attempt: Temporal retries after a second at the earliest, and small jobs end before that. */
export const QUICK_ASKS_MS: readonly number[] = [200, 300, 500, 1000];

/**
 * Polls until a job has ended. While the job runs, the activity fails with a benign "StillRunning" and Temporal retries
 * it, so waiting takes no worker slot and no history.
 * @param quickAsksMs pauses between the first polls, all within the first attempt.
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
      throw benignWait('StillRunning', reading.running, pollDelayMs(attempt, reading.response.retryAfterMs));
    }
    await sleep(pauseMs);
  }
}

/** The job that was read. Throws `JobGone` if it is unknown. */
export function readOrGone<Job>(outcome: AdminApiOutcome<Job>): { job: Job; response: AdminApiResponse } {
  if (outcome.verdict !== 'success') throw finalFailure('JobGone', outcome.error.message, outcome.error.status);
  return { job: outcome.result, response: outcome.response };
}

const grownMs = backoff({ firstMs: 1_000, maxMs: 15_000, factor: 1.3 });

/**
 * How long to wait after the given attempt (the first is 1): a second at first, growing to 15. A longer `retryAfterMs`
 * from the service wins.
 */
export function pollDelayMs(attempt: number, retryAfterMs: number | null = null): number {
  return Math.round(Math.max(grownMs(attempt), retryAfterMs ?? 0));
}
