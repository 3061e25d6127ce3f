import { setMaxListeners } from 'node:events';

/**
 * Two works at the same time. Where one fails, the other is aborted and awaited, so that nothing of either goes on when
 * this throws: the reason of the first that failed.
 */
export async function sideBySide<One, Other>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => Promise<One>,
  other: (signal: AbortSignal) => Promise<Other>,
): Promise<[One, Other]> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  // Every request of both listens to it; Node takes more than ten for a leak.
  setMaxListeners(0, either);
  const abortOther = (error: unknown): never => {
    failure.abort(error);
    throw failure.signal.reason;
  };
  const both = [one(either).catch(abortOther), other(either).catch(abortOther)] as const;
  await Promise.allSettled(both);
  return Promise.all(both);
}
