import { availableParallelism, loadavg } from 'node:os';

/** Required of a timer that was due while no worker, or no Temporal, ran. */
export const OVERDUE_TIMER_MS = 5_000;

/** Required of the receiver while Temporal is away. */
export const REFUSAL_MS = 2_000;

/**
 * What a promised time comes to on this machine as it is now: itself, and where others wait for the same cores, as many
 * times more as there are for each core. No neighbour's work can break a promise of ours.
 */
export function allowedMs(promisedMs: number): number {
  const [lastMinute = 0] = loadavg();
  return promisedMs * Math.max(1, lastMinute / availableParallelism());
}
