import { type Failure, isRetryable } from '../failures/read-failure.ts';
import { adminApiDelayMs, skipBackOff } from '../retry/retry-until.ts';
import { exportDelayMs } from './schedule.ts';
import type { MutableState } from './state.ts';

/** The changes of the wait after a failed export. */

export function startBackOff(state: MutableState, failure: Failure, nowMs: number, retryAfterMs: number): void {
  const failures = failuresInARow(state);
  // Only a second old job in a row is a fault of the service: the first one is expected after a reset of the workflow.
  const isSoon = isRetryable(failure) || (failure.type === 'OlderJob' && failures === 1);
  const delayMs = isSoon ? adminApiDelayMs(failure, failures) : exportDelayMs(failures);
  const notBeforeMs = nowMs + retryAfterMs;
  const keyRefused = failure.type === 'KeyRefused';
  const untilMs = Math.max(notBeforeMs, nowMs + delayMs);
  state.backOff = { failures, keyRefused, notBeforeMs, untilMs, waiting: true };
}

/** Retries soon, because something changed: a publish, a request, a key that works again. */
export function endBackOff(state: MutableState): void {
  const backOff = skipBackOff(state.backOff);
  state.backOff = backOff && { ...backOff, waiting: false };
}

/** The export is retried. The failures still count. */
export function backOffElapsed(state: MutableState): void {
  if (state.backOff) state.backOff = { ...state.backOff, waiting: false };
}

/** Including the failure that is being handled. */
export function failuresInARow({ backOff }: Pick<MutableState, 'backOff'>): number {
  return (backOff?.failures ?? 0) + 1;
}
