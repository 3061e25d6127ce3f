import { setTimeout as sleep } from 'node:timers/promises';

/** In all about five minutes. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 60_000, 60_000, 60_000];

/**
 * Does what an agent's run can't do without, again and again while that fails: trying all of the run again would cost
 * more. What `mayPass` says no to is thrown at once.
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
