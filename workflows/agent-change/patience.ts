import { isCancellation } from '@temporalio/workflow';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { backOffMs } from '../trouble/back-off.ts';
import { type Failure, isResumable, readFailure } from '../trouble/failures.ts';
import type { ChangeMemory } from './change-memory.ts';
import type { ChangeRun } from './change-run.ts';

/** A call's answer, or why no repetition of it would help. */
export type Answer<T> = { value: T } | { failure: Failure };

/**
 * Calls the Admin API until it answers: while it is away, asks for rest or refuses the key, the error is told in the
 * state and the same call is tried again, at longer and longer intervals, and at once when a worker announces a new
 * configuration. Undefined where the change was over meanwhile.
 */
export async function askPatiently<T>(
  run: ChangeRun,
  call: () => Promise<T>,
  over: () => boolean,
): Promise<Answer<T> | undefined> {
  const { memory } = run;
  for (;;) {
    await backOffEnded(run, over);
    if (over()) return undefined;
    try {
      const value = await call();
      memory.backOff = null;
      memory.error = null;
      return { value };
    } catch (error) {
      if (isCancellation(error)) throw error;
      const failure = readFailure(error);
      if (!isResumable(failure)) {
        memory.backOff = null;
        return { failure };
      }
      memory.error = failure.message.slice(0, 500);
      beginBackOff(memory, failure, Date.now());
    }
  }
}

/** The configuration changed, and with it perhaps the key: try again, but keep to a Retry-After. */
export function endBackOff(memory: ChangeMemory): void {
  if (memory.backOff) memory.backOff = { ...memory.backOff, untilMs: memory.backOff.notBeforeMs };
}

function beginBackOff(memory: ChangeMemory, failure: Failure, nowMs: number): void {
  const failures = (memory.backOff?.failures ?? 0) + 1;
  const notBeforeMs = nowMs + (failure.retryAfterMs ?? 0);
  const waitMs = backOffMs(failure.type === 'KeyRefused' ? 'key' : 'trouble', failures);
  memory.backOff = { failures, notBeforeMs, untilMs: Math.max(notBeforeMs, nowMs + waitMs) };
}

async function backOffEnded(run: ChangeRun, over: () => boolean): Promise<void> {
  for (;;) {
    const { backOff } = run.memory;
    const waitMs = (backOff?.untilMs ?? 0) - Date.now();
    if (waitMs <= 0 || over()) return;
    const summary = `next try after: ${run.memory.error ?? 'a failure'}`.replace(/\s+/g, ' ').slice(0, 200);
    await waitAtMost(() => run.memory.backOff !== backOff || over(), waitMs, summary);
  }
}
