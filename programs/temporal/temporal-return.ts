import { setTimeout as sleep } from 'node:timers/promises';

/** How often to check whether Temporal responds: rarely while it does, often during an outage. */
const LOOK_EVERY_MS = 2_000;
const AWAIT_EVERY_MS = 500;

/**
 * After an outage of this length a worker's polls wait seconds between attempts. Shorter ones are ignored: they may be
 * this machine's own, and a replaced worker hands back its tasks.
 */
const OUTAGE_MS = 6_000;

/** The clock of this wait. */
export interface Clock {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const REAL_CLOCK: Clock = { now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, { signal }) };

/**
 * Resolves once Temporal responds again after an outage. Rejects only if `signal` is aborted.
 * @param ready whether Temporal responds now; takes a second at most.
 * @param onOutage called once, when a silence has become an outage.
 */
export async function untilTemporalReturns(
  ready: () => Promise<boolean>,
  signal: AbortSignal,
  onOutage: () => void = () => {},
  clock: Clock = REAL_CLOCK,
): Promise<void> {
  let reported = false;
  let awaySinceMs: number | undefined;
  for (;;) {
    await clock.sleep(awaySinceMs === undefined ? LOOK_EVERY_MS : AWAIT_EVERY_MS, signal);
    if (!(await ready())) {
      awaySinceMs ??= clock.now();
      if (!reported && clock.now() - awaySinceMs >= OUTAGE_MS) {
        reported = true;
        onOutage();
      }
      continue;
    }
    if (reported || (awaySinceMs !== undefined && clock.now() - awaySinceMs >= OUTAGE_MS)) return;
    awaySinceMs = undefined;
  }
}
