import { availableParallelism, loadavg } from 'node:os';

/** Required of the receiver while Temporal is away. */
export const REFUSAL_MS = 2_000;

/** How many want each core of this machine now; 1 where nobody waits for one. */
export function crowding(): number {
  const [lastMinute = 0] = loadavg();
  return Math.max(1, lastMinute / availableParallelism());
}

/** What a promised time comes to on this machine as it is now: no neighbour's work can break a promise of ours. */
export function allowedMs(promisedMs: number): number {
  return promisedMs * crowding();
}
