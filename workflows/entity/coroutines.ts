import {
  CancellationScope,
  condition,
  isCancellation,
  log,
  type SignalDefinition,
  setHandler,
} from '@temporalio/workflow';
import type { z } from 'zod';

/** The longest duration that galley.yaml accepts. */
const LONGEST_MS = 3650 * 86_400_000;

/**
 * Runs coroutines until `isOver` holds or all of them have returned. Then cancels the remaining ones and waits for their
 * clean-up. Errors other than cancellation are thrown.
 */
export async function runUntil(coroutines: readonly (() => Promise<unknown>)[], isOver: () => boolean): Promise<void> {
  const scope = new CancellationScope();
  const running = coroutines.map((coroutine) => scope.run(coroutine));
  try {
    await Promise.race([Promise.all(running), condition(isOver)]);
  } finally {
    scope.cancel();
    await settled(running);
  }
}

/**
 * Resolves when `holds` does, or after `waitMs`. An infinite wait starts no timer, which Temporal would reject.
 * @param summary what the timer is for, as the Temporal UI shows it
 */
export async function waitAtMost(holds: () => boolean, waitMs: number, summary: string): Promise<void> {
  if (waitMs === Number.POSITIVE_INFINITY) await condition(holds);
  else await condition(holds, clampedMs(waitMs), { summary });
}

async function settled(running: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(running)) {
    if (outcome.status === 'rejected' && !isCancellation(outcome.reason)) throw outcome.reason;
  }
}

function clampedMs(waitMs: number): number {
  if (Number.isNaN(waitMs)) return 1;
  return Math.min(Math.max(Math.ceil(waitMs), 1), LONGEST_MS);
}

/**
 * Handles a signal whose payload matches the schema, and ignores any other payload with a warning: throwing would block
 * the workflow, because anyone may send a malformed signal.
 * @param description what the signal does, as the Temporal UI shows it
 */
export function handleSignal<T>(
  definition: SignalDefinition<[T]>,
  schema: z.ZodType<T>,
  description: string,
  handler: (payload: T) => void,
): void {
  const handle = (payload: unknown): void => {
    const parsed = schema.safeParse(payload);
    if (parsed.success) handler(parsed.data);
    else log.warn(`a signal "${definition.name}" of another shape was ignored`);
  };
  setHandler(definition, handle, { description });
}
