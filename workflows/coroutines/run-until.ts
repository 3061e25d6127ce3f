import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';

/**
 * Runs coroutines until `ended` holds or all of them are done, then cancels what is left and waits for the last steps of
 * each. One that throws is a fault of the code and is thrown on.
 */
export async function runUntil(coroutines: readonly (() => Promise<unknown>)[], ended: () => boolean): Promise<void> {
  const scope = new CancellationScope();
  const running = coroutines.map((coroutine) => scope.run(coroutine));
  try {
    await Promise.race([Promise.all(running), condition(ended)]);
  } finally {
    scope.cancel();
    await settled(running);
  }
}

async function settled(running: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(running)) {
    if (outcome.status === 'rejected' && !isCancellation(outcome.reason)) throw outcome.reason;
  }
}
