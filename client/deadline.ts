import { setTimeout as sleep } from 'node:timers/promises';

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Deadline = {
  timeoutMs: number;
  /** The caller's own signal. */
  signal: AbortSignal | undefined;
  /** Makes the error that a timeout rejects with. */
  error: () => Error;
};

/**
 * Runs work with a signal that aborts after `timeoutMs` or with the caller's signal. Rejects with `error()` or with the
 * reason of the caller's signal.
 */
export async function withDeadline<T>(
  { timeoutMs, signal, error }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs: expected a positive number of milliseconds, got ${timeoutMs}`);
  signal?.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(error()), Math.min(timeoutMs, LONGEST_TIMER_MS));
  const forward = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', forward, { once: true });
  try {
    return await work(controller.signal);
  } catch (failure) {
    controller.signal.throwIfAborted();
    throw failure;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', forward);
  }
}

/** Rejects with the signal's reason if it aborts. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
