import { setTimeout as sleep } from 'node:timers/promises';

/** In all about five minutes: an outage shorter than this costs no second run of an agent. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 60_000, 60_000, 60_000];

/** Does what keeps an agent's work, again and again while that fails: the work took long and would be lost. */
export async function keepTrying<Result>(signal: AbortSignal, keep: () => Promise<Result>): Promise<Result> {
  for (const waitMs of WAITS_MS) {
    try {
      return await keep();
    } catch {
      await sleep(waitMs, undefined, { signal });
    }
  }
  return keep();
}
