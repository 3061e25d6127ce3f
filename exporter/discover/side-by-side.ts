import { setMaxListeners } from 'node:events';

/**
 * Runs two tasks at the same time. If one fails, the other is aborted and awaited, so that nothing runs on when this
 * throws the first failure.
 */
export async function sideBySide<One, Other>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => Promise<One>,
  other: (signal: AbortSignal) => Promise<Other>,
): Promise<[One, Other]> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  // Every request of both tasks listens to it; Node warns of a leak above ten listeners.
  setMaxListeners(0, either);
  const abortOther = (error: unknown): never => {
    failure.abort(error);
    throw failure.signal.reason;
  };
  const both = [one(either).catch(abortOther), other(either).catch(abortOther)] as const;
  await Promise.allSettled(both);
  return Promise.all(both);
}
