import { setTimeout as sleep } from 'node:timers/promises';

/** Together they take about five minutes. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 60_000, 60_000, 60_000];

/**
 * Retries an operation that a run depends on, because repeating the whole run would cost more. Errors that `mayPass`
 * rejects are thrown immediately.
 */
export async function keepTrying<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
  mayPass: (error: unknown) => boolean = () => true,
  wait: (ms: number) => Promise<unknown> = (ms) => sleep(ms, undefined, { signal }),
): Promise<Result> {
  for (const waitMs of WAITS_MS) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await wait(waitMs);
    }
  }
  return work();
}
