import { Context, sleep } from '@temporalio/activity';
import type { CallAdminApi } from './call-admin-api.ts';
import type { AdminApiResponse } from './http-client.ts';
import { benignWait, describeResponse, finalFailure, retryAfterOf } from './outcomes.ts';
import { pollDelayMs } from './poll-delay.ts';

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
      throw benignWait('StillRunning', reading.running, pollDelayMs(attempt, retryAfterOf(reading.response)));
    }
    await sleep(pauseMs);
  }
}

/** Reads the job at a path. Throws `JobGone` if it is unknown. */
export async function readAt(call: CallAdminApi, path: string): Promise<AdminApiResponse> {
  const request = { method: 'GET', path } as const;
  const { verdict, response } = await call('read', request);
  if (verdict !== 'success') throw finalFailure('JobGone', describeResponse(request, response), response.status);
  return response;
}
