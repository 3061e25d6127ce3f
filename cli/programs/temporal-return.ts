import { setTimeout as sleep } from 'node:timers/promises';

/** How often Temporal is asked whether it answers: rarely while it does, often while it is awaited. */
const LOOK_EVERY_MS = 2_000;
const AWAIT_EVERY_MS = 500;

/**
 * After this long away a worker's polls wait for seconds between two tries. Shorter silences are left alone: they may be
 * this machine's own, and a worker that is replaced hands back what it runs.
 */
const OUTAGE_MS = 6_000;

/** The time as this wait sees it. */
export interface Clock {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const REAL_CLOCK: Clock = { now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, { signal }) };

/**
 * Resolves once Temporal answers again after an outage. Rejects only when `signal` is aborted.
 * @param ready whether Temporal answers now; takes a second at most.
 * @param onOutage called once, when a silence has become an outage.
 */
export async function untilTemporalReturns(
  ready: () => Promise<boolean>,
  signal: AbortSignal,
  onOutage: () => void = () => {},
  clock: Clock = REAL_CLOCK,
): Promise<void> {
  let told = false;
  let awaySinceMs: number | undefined;
  for (;;) {
    await clock.sleep(awaySinceMs === undefined ? LOOK_EVERY_MS : AWAIT_EVERY_MS, signal);
    if (!(await ready())) {
      awaySinceMs ??= clock.now();
      if (!told && clock.now() - awaySinceMs >= OUTAGE_MS) {
        told = true;
        onOutage();
      }
      continue;
    }
    if (told || (awaySinceMs !== undefined && clock.now() - awaySinceMs >= OUTAGE_MS)) return;
    awaySinceMs = undefined;
  }
}
