import { setTimeout as sleep } from 'node:timers/promises';

/** How a request went, as far as the number of requests at a time is concerned. */
export type RequestOutcome = 'answered' | 'overloaded';

export type OriginLimiter = {
  /** Waits for a place at the origin; the answer gives it back. Rejects when the signal fires first. */
  acquire(origin: string, signal: AbortSignal): Promise<(outcome: RequestOutcome) => void>;
  /** No request to the origin starts before this much time has passed. */
  pause(origin: string, pauseMs: number): void;
  /** Places at the origin at the moment; it grows and shrinks with the origin's answers. */
  limitOf(origin: string): number;
};

/** After a shrink, further bad answers belong to the same crowd for this long. */
const SHRINK_PAUSE_MS = 500;

type Lane = {
  limit: number;
  active: number;
  /** Until the first bad answer the limit grows with every answer, afterwards once a round. */
  grownFast: boolean;
  shrunkAt: number;
  pausedUntil: number;
  waiting: Array<() => void>;
  timer: boolean;
};

/**
 * Bounds the requests under way at each origin, across all exports of a process. The limit finds itself: additive
 * increase while the origin answers, halved when it says 429 or 503, times out or resets.
 */
export function createOriginLimiter(options: { initial: number; max: number }): OriginLimiter {
  const lanes = new Map<string, Lane>();

  function laneOf(origin: string): Lane {
    const known = lanes.get(origin);
    if (known !== undefined) return known;
    const lane: Lane = {
      limit: options.initial,
      active: 0,
      grownFast: true,
      shrunkAt: 0,
      pausedUntil: 0,
      waiting: [],
      timer: false,
    };
    lanes.set(origin, lane);
    return lane;
  }

  function admit(lane: Lane): void {
    const pauseMs = lane.pausedUntil - Date.now();
    if (pauseMs > 0) {
      wakeAfter(lane, pauseMs);
      return;
    }
    while (lane.active < Math.floor(lane.limit)) {
      const next = lane.waiting.shift();
      if (next === undefined) return;
      lane.active += 1;
      next();
    }
  }

  function wakeAfter(lane: Lane, pauseMs: number): void {
    if (lane.timer || lane.waiting.length === 0) return;
    lane.timer = true;
    void sleep(Math.min(pauseMs, 60_000), undefined, { ref: false }).then(() => {
      lane.timer = false;
      admit(lane);
    });
  }

  function adjust(lane: Lane, outcome: RequestOutcome): void {
    if (outcome === 'answered') {
      lane.limit = Math.min(options.max, lane.limit + (lane.grownFast ? 1 : 1 / lane.limit));
      return;
    }
    lane.grownFast = false;
    if (Date.now() - lane.shrunkAt < SHRINK_PAUSE_MS) return;
    lane.shrunkAt = Date.now();
    lane.limit = Math.max(1, lane.limit / 2);
  }

  function releaseOnce(lane: Lane): (outcome: RequestOutcome) => void {
    let released = false;
    return (outcome) => {
      if (released) return;
      released = true;
      lane.active -= 1;
      adjust(lane, outcome);
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
        const enter = (): void => {
          signal.removeEventListener('abort', leave);
          resolve(releaseOnce(lane));
        };
        const leave = (): void => {
          lane.waiting = lane.waiting.filter((each) => each !== enter);
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        lane.waiting.push(enter);
        admit(lane);
      });
    },

    pause(origin, pauseMs) {
      const lane = laneOf(origin);
      lane.pausedUntil = Math.max(lane.pausedUntil, Date.now() + pauseMs);
    },

    limitOf: (origin) => Math.floor(laneOf(origin).limit),
  };
}
