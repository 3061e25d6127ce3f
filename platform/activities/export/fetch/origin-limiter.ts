import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
import { createPatience, OriginAskedForQuiet, type Patience } from './patience.ts';

/** How a request went, as far as the number of requests at a time is concerned; `none`: it says nothing about that. */
export type RequestOutcome =
  | { kind: 'answered' /** From the request's first byte to the answer's. */; latencyMs: number }
  | { kind: 'overloaded' }
  | { kind: 'none' };

export type OriginLimiter = {
  /**
   * Waits for a place at the origin; the answer gives it back. Rejects when the signal fires first, and
   * with `OriginAskedForQuiet` where the origin wants nobody to wait (`patience.ts`).
   */
  acquire(origin: string, signal: AbortSignal): Promise<(outcome: RequestOutcome) => void>;
  /** The origin asked for a pause: no request to it starts before, within the bounds of `patience.ts`. */
  pause(origin: string, pauseMs: number): void;
  /**
   * From now on, requests to the origin go one at a time and begin at least this far apart, the first one too: another
   * process may have asked just now. 0 lifts it. What is said last counts for everybody in this process.
   */
  space(origin: string, spacingMs: number): void;
  /** Places at the origin at the moment; it grows and shrinks with the origin's answers. */
  limitOf(origin: string): number;
};

/** Time as the limiter sees it; tests bring their own. */
export type LimiterClock = {
  nowMs(): number;
  /** Calls back after so much time, at the earliest; must not keep the process alive. */
  after(ms: number, callback: () => void): void;
};

const systemClock: LimiterClock = {
  nowMs: () => performance.now(),
  after: (ms, callback) => {
    setTimeout(callback, ms).unref();
  },
};

type Waiter = { enter: () => void; refuse: () => void };

type Lane = {
  limit: ConcurrencyLimit;
  active: number;
  patience: Patience;
  spacingMs: number;
  lastStart: number;
  waiting: Waiter[];
  timer: boolean;
};

/** A timer that comes early finds that it must wait on; one of days would overflow. */
const MAX_TIMER_MS = 60_000;
/** Lanes nobody uses are forgotten past this many: pages name any number of other hosts. */
const MAX_LANES = 1_000;

/**
 * Bounds the requests under way at each origin, across all exports of a process: as many at a time as the origin bears
 * (`concurrency-limit.ts`), none while it asked to be left alone, and as far apart as its robots.txt wants.
 */
export function createOriginLimiter(options: { initial: number; max: number; clock?: LimiterClock }): OriginLimiter {
  const { clock = systemClock, ...bounds } = options;
  const lanes = new Map<string, Lane>();

  function laneOf(origin: string): Lane {
    const known = lanes.get(origin);
    if (known !== undefined) return known;
    if (lanes.size >= MAX_LANES) forgetIdle();
    const lane: Lane = {
      limit: createConcurrencyLimit(bounds),
      active: 0,
      patience: createPatience(),
      spacingMs: 0,
      lastStart: Number.NEGATIVE_INFINITY,
      waiting: [],
      timer: false,
    };
    lanes.set(origin, lane);
    return lane;
  }

  function forgetIdle(): void {
    for (const [origin, lane] of lanes) {
      const isIdle = lane.active === 0 && lane.waiting.length === 0 && lane.spacingMs === 0;
      if (isIdle && lane.patience.pausedUntil() <= clock.nowMs()) lanes.delete(origin);
    }
  }

  function placesOf(lane: Lane): number {
    return lane.spacingMs > 0 ? 1 : lane.limit.current();
  }

  function admit(lane: Lane): void {
    while (lane.waiting.length > 0 && lane.active < placesOf(lane)) {
      const waitMs = Math.max(lane.patience.pausedUntil(), lane.lastStart + lane.spacingMs) - clock.nowMs();
      if (waitMs > 0) {
        wakeAfter(lane, waitMs);
        return;
      }
      lane.active += 1;
      lane.lastStart = clock.nowMs();
      lane.waiting.shift()?.enter();
    }
  }

  function wakeAfter(lane: Lane, waitMs: number): void {
    if (lane.timer) return;
    lane.timer = true;
    clock.after(Math.min(waitMs, MAX_TIMER_MS), () => {
      lane.timer = false;
      admit(lane);
    });
  }

  function adjust(lane: Lane, startedAtMs: number, outcome: RequestOutcome): void {
    const nowMs = clock.nowMs();
    const wasFull = lane.active >= placesOf(lane);
    if (outcome.kind === 'overloaded') lane.limit.overloaded({ startedAtMs, nowMs });
    else if (outcome.kind === 'answered') {
      lane.patience.answered(startedAtMs);
      lane.limit.answered({ startedAtMs, nowMs, latencyMs: outcome.latencyMs, wasFull });
    }
  }

  function releaseOnce(lane: Lane): (outcome: RequestOutcome) => void {
    const startedAtMs = lane.lastStart;
    let released = false;
    return (outcome) => {
      if (released) return;
      released = true;
      adjust(lane, startedAtMs, outcome);
      lane.active -= 1;
      admit(lane);
    };
  }

  return {
    acquire(origin, signal) {
      const lane = laneOf(origin);
      return new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        if (lane.patience.isRefused(clock.nowMs())) {
          reject(new OriginAskedForQuiet());
          return;
        }
        let isWaiting = true;
        const end = (): void => {
          isWaiting = false;
          signal.removeEventListener('abort', leave);
        };
        const waiter: Waiter = {
          enter: () => {
            end();
            resolve(releaseOnce(lane));
          },
          refuse: () => {
            end();
            reject(new OriginAskedForQuiet());
          },
        };
        const leave = (): void => {
          lane.waiting = lane.waiting.filter((each) => each !== waiter);
          reject(signal.reason);
        };
        lane.waiting.push(waiter);
        admit(lane);
        // Most are let in at once, and needn't listen.
        if (isWaiting) signal.addEventListener('abort', leave, { once: true });
      });
    },

    pause(origin, pauseMs) {
      const lane = laneOf(origin);
      if (!lane.patience.ask(pauseMs, clock.nowMs())) return;
      for (const waiter of lane.waiting.splice(0)) waiter.refuse();
    },

    space(origin, spacingMs) {
      const lane = laneOf(origin);
      lane.spacingMs = spacingMs;
      if (spacingMs > 0) lane.lastStart = clock.nowMs();
      admit(lane);
    },

    limitOf: (origin) => placesOf(laneOf(origin)),
  };
}
