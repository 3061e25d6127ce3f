import { isCancellation } from '@temporalio/workflow';
import { backoff } from '../../base/backoff.ts';
import { waitAtMost } from '../entity/coroutines.ts';
import { type Failure, isRetryable, readFailure } from '../failures/read-failure.ts';

const unavailableDelayMs = backoff({ firstMs: 5_000, maxMs: 60_000 });
/** A person has to replace the key or the plan. */
const keyRefusedDelayMs = backoff({ firstMs: 300_000, maxMs: 3_600_000 });

type BackOff = {
  failures: number;
  untilMs: number;
  /** The time from a `Retry-After`: there is no attempt before it. */
  notBeforeMs: number;
};

/** Part of the workflow's state, so that the next run continues the wait and people see the error. */
type RetryState = { backOff: BackOff | null; error: string | null };

/** The result of a call, or a failure that no retry can fix. */
type RetryOutcome<T> = { value: T } | { failure: Failure };

/**
 * Retries a call to the Admin API for as long as the service is unavailable, limits the rate or refuses the key. Returns
 * undefined if `isOver` holds before the call succeeds.
 */
export async function retryUntil<T>(
  state: RetryState,
  call: () => Promise<T>,
  isOver: () => boolean,
): Promise<RetryOutcome<T> | undefined> {
  for (;;) {
    await waitForBackOff(state, isOver);
    if (isOver()) return undefined;
    try {
      const value = await call();
      state.backOff = null;
      state.error = null;
      return { value };
    } catch (error) {
      if (isCancellation(error)) throw error;
      const failure = readFailure(error);
      if (!isRetryable(failure)) {
        state.backOff = null;
        return { failure };
      }
      state.error = failure.message.slice(0, 500);
      state.backOff = nextBackOff(state.backOff, failure, Date.now());
    }
  }
}

/** The delay before a call that failed with a retryable failure is repeated. */
export function adminApiDelayMs(failure: Failure, failures: number): number {
  return failure.type === 'KeyRefused' ? keyRefusedDelayMs(failures) : unavailableDelayMs(failures);
}

/** Retries at once, because something changed, but respects a `Retry-After`. */
export function skipBackOff<T extends BackOff>(backOff: T | null): T | null {
  return backOff && { ...backOff, untilMs: backOff.notBeforeMs };
}

/** The summary of a back-off's timer, as the Temporal UI shows it. */
export function backOffSummary(error: string | undefined | null): string {
  return `next try after: ${error ?? 'a failure'}`.replace(/\s+/g, ' ').slice(0, 200);
}

function nextBackOff(backOff: BackOff | null, failure: Failure, nowMs: number): BackOff {
  const failures = (backOff?.failures ?? 0) + 1;
  const notBeforeMs = nowMs + (failure.retryAfterMs ?? 0);
  return { failures, notBeforeMs, untilMs: Math.max(notBeforeMs, nowMs + adminApiDelayMs(failure, failures)) };
}

async function waitForBackOff(state: RetryState, isOver: () => boolean): Promise<void> {
  for (;;) {
    const { backOff } = state;
    const waitMs = (backOff?.untilMs ?? 0) - Date.now();
    if (waitMs <= 0 || isOver()) return;
    await waitAtMost(() => state.backOff !== backOff || isOver(), waitMs, backOffSummary(state.error));
  }
}
