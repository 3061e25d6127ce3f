import { type Clock, systemClock } from './clock.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { createRetryAfterGate, OriginAskedForQuiet, type RetryAfterGate } from './retry-after-gate.ts';

/** A request's result for the concurrency limit; `none`: it has no effect. */
export type RequestOutcome =
  | { kind: 'completed' /** The time from the start of the request to the head of the response. */; latencyMs: number }
  | { kind: 'overloaded' }
  | { kind: 'none' };

export type OriginLimiter = {
  /**
   * Waits for a slot at the origin; the returned function releases it. Rejects if the signal fires first, or with
   * `OriginAskedForQuiet` if the origin refuses requests (`retry-after-gate.ts`).
   *
   * Callers with a `spacingMs` make requests to the origin one at a time, at least this far apart. An export that
   * ignores robots.txt passes none, and neither keeps the delay nor lifts it for others.
   */
  acquire(origin: string, signal: AbortSignal, spacingMs?: number): Promise<(outcome: RequestOutcome) => void>;
  /** The origin asked for a pause: no request starts before its end, within the limits of `retry-after-gate.ts`. */
  pause(origin: string, pauseMs: number): void;
  /** The next spaced request keeps the delay from now on, because another process may have just made a request. */
  beginSpacing(origin: string): void;
  /** The number of slots at the origin now; it changes with the origin's responses. */
  limitOf(origin: string): number;
};

type Waiter = { spacingMs: number; enter: () => void; refuse: () => void };

type Lane = {
  limit: ConcurrencyLimit;
  active: number;
  gate: RetryAfterGate;
  waiting: Waiter[];
  /** Callers with a spacing wait here, all others in `waiting`. */
  spacedWaiting: Waiter[];
  spacedActive: number;
  lastSpacedStart: number;
  /** When the lane is checked next, and how to cancel that. */
  wakeAt: number;
  cancelWake: () => void;
};

/** A timer that fires early is set again; one of several days would overflow. */
const MAX_TIMER_MS = 60_000;
/** Longer than any delay in robots.txt (`robots.ts`); a lane with a delay is kept for this long. */
const LONGEST_SPACING_MS = 60_000;
/** Past this many, idle lanes are dropped, because pages may link to any number of hosts. */
const MAX_LANES = 1_000;

/**
 * Limits the requests to each origin across all exports of a process: as many at a time as the origin can handle
 * (`concurrency-limit.ts`), none during a pause that it asked for, and spaced as its robots.txt asks.
 */
export function createOriginLimiter(options: { initial: number; max: number; clock?: Clock }): OriginLimiter {
  const { clock = systemClock, ...bounds } = options;
  return new Lanes(clock, bounds);
}

class Lanes implements OriginLimiter {
  private readonly clock: Clock;
  private readonly bounds: { initial: number; max: number };
  private readonly lanes = new Map<string, Lane>();

  constructor(clock: Clock, bounds: { initial: number; max: number }) {
    this.clock = clock;
    this.bounds = bounds;
  }

  acquire(origin: string, signal: AbortSignal, spacingMs = 0): Promise<(outcome: RequestOutcome) => void> {
    const lane = this.laneOf(origin);
    if (signal.aborted) return Promise.reject(signal.reason);
    if (lane.gate.isRefused(this.clock.nowMs())) return Promise.reject(new OriginAskedForQuiet());
    return this.waitForSlot(lane, signal, spacingMs);
  }

  pause(origin: string, pauseMs: number): void {
    const lane = this.laneOf(origin);
    if (!lane.gate.ask(pauseMs, this.clock.nowMs())) return;
    for (const waiter of [...lane.waiting.splice(0), ...lane.spacedWaiting.splice(0)]) waiter.refuse();
  }

  beginSpacing(origin: string): void {
    this.laneOf(origin).lastSpacedStart = this.clock.nowMs();
  }

  limitOf(origin: string): number {
    return this.laneOf(origin).limit.current();
  }

  private laneOf(origin: string): Lane {
    const known = this.lanes.get(origin);
    if (known !== undefined) return known;
    if (this.lanes.size >= MAX_LANES) this.forgetIdle();
    const lane: Lane = {
      limit: new ConcurrencyLimit(this.bounds),
      active: 0,
      gate: createRetryAfterGate(),
      waiting: [],
      spacedWaiting: [],
      spacedActive: 0,
      lastSpacedStart: Number.NEGATIVE_INFINITY,
      wakeAt: Number.POSITIVE_INFINITY,
      cancelWake: () => undefined,
    };
    this.lanes.set(origin, lane);
    return lane;
  }

  private forgetIdle(): void {
    for (const [origin, lane] of this.lanes) {
      const isIdle = lane.active === 0 && lane.waiting.length === 0 && lane.spacedWaiting.length === 0;
      const keptUntil = Math.max(lane.gate.pausedUntil(), lane.lastSpacedStart + LONGEST_SPACING_MS);
      if (isIdle && keptUntil <= this.clock.nowMs()) this.lanes.delete(origin);
    }
  }

  private admit(lane: Lane): void {
    // First, because spaced requests are rare: the others could take every free slot.
    this.admitSpaced(lane);
    while (lane.waiting.length > 0 && lane.active < lane.limit.current()) {
      if (!this.isDue(lane, lane.gate.pausedUntil())) return;
      lane.active += 1;
      lane.waiting.shift()?.enter();
    }
  }

  private admitSpaced(lane: Lane): void {
    const [next] = lane.spacedWaiting;
    if (next === undefined || lane.spacedActive > 0 || lane.active >= lane.limit.current()) return;
    if (!this.isDue(lane, Math.max(lane.gate.pausedUntil(), lane.lastSpacedStart + next.spacingMs))) return;
    lane.active += 1;
    lane.spacedActive += 1;
    lane.lastSpacedStart = this.clock.nowMs();
    lane.spacedWaiting.shift()?.enter();
  }

  /** Whether a request may start that must wait until `at`; otherwise schedules the next check. */
  private isDue(lane: Lane, at: number): boolean {
    const waitMs = at - this.clock.nowMs();
    if (waitMs > 0) this.wakeAfter(lane, waitMs);
    return waitMs <= 0;
  }

  private wakeAfter(lane: Lane, waitMs: number): void {
    const timerMs = Math.min(waitMs, MAX_TIMER_MS);
    const wakeAt = this.clock.nowMs() + timerMs;
    if (lane.wakeAt <= wakeAt) return;
    lane.cancelWake();
    lane.wakeAt = wakeAt;
    lane.cancelWake = this.clock.after(timerMs, () => {
      lane.wakeAt = Number.POSITIVE_INFINITY;
      this.admit(lane);
    });
  }

  private adjust(lane: Lane, startedAtMs: number, outcome: RequestOutcome): void {
    const nowMs = this.clock.nowMs();
    const wasFull = lane.active >= lane.limit.current();
    if (outcome.kind === 'overloaded') lane.limit.overloaded({ startedAtMs, nowMs });
    else if (outcome.kind === 'completed') {
      lane.gate.succeeded(startedAtMs);
      lane.limit.completed({ startedAtMs, nowMs, latencyMs: outcome.latencyMs, wasFull });
    }
  }

  private releaseOnce(lane: Lane, isSpaced: boolean): (outcome: RequestOutcome) => void {
    const startedAtMs = this.clock.nowMs();
    let released = false;
    return (outcome) => {
      if (released) return;
      released = true;
      this.adjust(lane, startedAtMs, outcome);
      lane.active -= 1;
      if (isSpaced) lane.spacedActive -= 1;
      this.admit(lane);
    };
  }

  private waitForSlot(lane: Lane, signal: AbortSignal, spacingMs: number): Promise<(outcome: RequestOutcome) => void> {
    const isSpaced = spacingMs > 0;
    return new Promise((resolve, reject) => {
      let isWaiting = true;
      const end = (): void => {
        isWaiting = false;
        signal.removeEventListener('abort', leave);
      };
      const waiter: Waiter = {
        spacingMs,
        enter: () => {
          end();
          resolve(this.releaseOnce(lane, isSpaced));
        },
        refuse: () => {
          end();
          reject(new OriginAskedForQuiet());
        },
      };
      const leave = (): void => {
        lane.waiting = lane.waiting.filter((each) => each !== waiter);
        lane.spacedWaiting = lane.spacedWaiting.filter((each) => each !== waiter);
        reject(signal.reason);
      };
      (isSpaced ? lane.spacedWaiting : lane.waiting).push(waiter);
      this.admit(lane);
      // Most callers get a slot immediately and need no listener.
      if (isWaiting) signal.addEventListener('abort', leave, { once: true });
    });
  }
}
