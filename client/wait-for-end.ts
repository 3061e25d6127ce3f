import { AdminApiError, isTemporary } from './admin-api-error.ts';
import { pause, withDeadline } from './deadline.ts';
import type { RequestOptions } from './send-request.ts';

export type WaitOptions<Job> = {
  /** Ends the wait, not the job: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called with the job after each poll. */
  onProgress?: ((job: Job) => void) | undefined;
  /** The limit for the whole wait, in milliseconds; no limit by default. */
  timeoutMs?: number | undefined;
  /** The pause before the next poll, in milliseconds, given the time waited so far. A longer `Retry-After` wins. */
  pollDelayMs?: ((waitedMs: number) => number) | undefined;
};

/** Temporary failures that last longer, from the first in a row, end the wait. */
const OUTAGE_MS = 60_000;

type Read<Job> = (options: RequestOptions) => Promise<Job>;

/**
 * Polls a job until it has ended.
 * @throws AdminApiError after `timeoutMs`, and for a failure that isn't temporary or lasts more than a minute.
 */
export async function waitForEnd<Job, Ended extends Job>(
  { id, read, isEnded }: { id: string; read: Read<Job>; isEnded: (job: Job) => job is Ended },
  { signal, timeoutMs = Number.POSITIVE_INFINITY, onProgress, pollDelayMs = usualDelayMs }: WaitOptions<Job>,
): Promise<Ended> {
  const error = (): Error => new AdminApiError(id, { status: null, reason: `not ended within ${timeoutMs / 1000} s` });
  const startedMs = performance.now();
  const poll = createPoll(read);
  return await withDeadline({ timeoutMs, signal, error }, async (deadline) => {
    for (;;) {
      const { job, retryAfterMs } = await poll(deadline);
      if (job !== undefined) onProgress?.(job);
      if (job !== undefined && isEnded(job)) return job;
      await pause(Math.max(pollDelayMs(performance.now() - startedMs), retryAfterMs), deadline);
    }
  });
}

/** Polls once; no job means that the service is unavailable for the moment. */
function createPoll<Job>(read: Read<Job>) {
  let failingSinceMs: number | undefined;
  return async (signal: AbortSignal): Promise<{ job?: Job; retryAfterMs: number }> => {
    let retryAfterMs = 0;
    const onResponse: RequestOptions['onResponse'] = (response) => {
      retryAfterMs = response.retryAfterMs ?? 0;
    };
    try {
      const job = await read({ signal, onResponse });
      failingSinceMs = undefined;
      return { job, retryAfterMs };
    } catch (error) {
      // Not since the last success: during a long pause nothing was tried.
      failingSinceMs ??= performance.now();
      const lasts = performance.now() - failingSinceMs > OUTAGE_MS;
      if (lasts || !(error instanceof AdminApiError) || !isTemporary(error)) throw error;
      return { retryAfterMs };
    }
  };
}

/** A quarter of the time waited: soon for a small site, seldom for a large one. */
function usualDelayMs(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 4, 250), 5_000);
}
