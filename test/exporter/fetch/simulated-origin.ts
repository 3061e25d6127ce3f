import type { Clock } from '../../../exporter/fetch/clock.ts';
import type { OriginLimiter, RequestOutcome } from '../../../exporter/fetch/origin-limiter.ts';

/** A clock with timers that a test advances. */
export type SimulatedClock = Clock & {
  /** Runs all timers until none is left, and settles promises in between. */
  run(): Promise<void>;
  /** Advances the clock and runs the timers that are due by then. */
  advance(ms: number): void;
  /** Waits until the clock has been read this many times. */
  untilRead(times?: number): Promise<void>;
};

export function createSimulatedClock(): SimulatedClock {
  let now = 0;
  let count = 0;
  type Timer = { at: number; order: number; callback: () => void };
  let due: Timer[] = [];
  let readers: Array<{ left: number; resolve: () => void }> = [];

  function next(until: number): Timer | undefined {
    due.sort((a, b) => a.at - b.at || a.order - b.order);
    return due[0] !== undefined && due[0].at <= until ? due.shift() : undefined;
  }

  return {
    nowMs() {
      for (const reader of readers) reader.left -= 1;
      for (const { left, resolve } of readers) if (left <= 0) resolve();
      readers = readers.filter(({ left }) => left > 0);
      return now;
    },
    after(ms, callback) {
      count += 1;
      const timer = { at: now + Math.max(0, ms), order: count, callback };
      due.push(timer);
      return () => {
        due = due.filter((each) => each !== timer);
      };
    },
    advance(ms) {
      const until = now + ms;
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        now = Math.max(now, timer.at);
        timer.callback();
      }
      now = until;
    },
    untilRead: (times = 1) => new Promise((resolve) => readers.push({ left: times, resolve })),
    async run() {
      await new Promise(setImmediate);
      for (let timer = next(Infinity); timer !== undefined; timer = next(Infinity)) {
        now = Math.max(now, timer.at);
        timer.callback();
        await new Promise(setImmediate);
      }
    },
  };
}

/** The time until the response starts, and its outcome. */
export type Reply = { latencyMs: number; outcome?: 'overloaded' | 'none' };
export type SimulatedOrigin = (request: { nowMs: number; active: number; number: number }) => Reply;

export type Crawl = {
  /** The start time of each request, in order. */
  starts: number[];
  /** The highest number of concurrent requests. */
  most: number;
  /** Whether a request ever started above the limit. */
  overstepped: boolean;
  endedAtMs: number;
  /** The limit after each response. */
  limits: number[];
};

/** Requests pages from a simulated origin. All of them are enqueued at the start. */
export async function crawlSimulated(
  { limiter, clock }: { limiter: OriginLimiter; clock: SimulatedClock },
  { pages, origin, spacingMs = 0 }: { pages: number; origin: SimulatedOrigin; spacingMs?: number },
): Promise<Crawl> {
  const crawl: Crawl = { starts: [], most: 0, overstepped: false, endedAtMs: 0, limits: [] };
  const { signal } = new AbortController();
  let active = 0;
  const visit = async (number: number): Promise<void> => {
    const release = await limiter.acquire('origin', signal, spacingMs);
    active += 1;
    crawl.most = Math.max(crawl.most, active);
    crawl.overstepped ||= active > limiter.limitOf('origin');
    crawl.starts.push(clock.nowMs());
    const { latencyMs, outcome } = origin({ nowMs: clock.nowMs(), active, number });
    await new Promise<void>((resolve) => clock.after(latencyMs, resolve));
    active -= 1;
    const result: RequestOutcome = outcome === undefined ? { kind: 'completed', latencyMs } : { kind: outcome };
    release(result);
    crawl.limits.push(limiter.limitOf('origin'));
    crawl.endedAtMs = clock.nowMs();
  };
  const all = Promise.all(Array.from({ length: pages }, (_, number) => visit(number)));
  await clock.run();
  await all;
  return crawl;
}

/** An origin that handles one request after another, each in `workMs`. */
export function oneAtATime(workMs: number): SimulatedOrigin {
  let freeAt = 0;
  return ({ nowMs }) => {
    freeAt = Math.max(freeAt, nowMs) + workMs;
    return { latencyMs: freeAt - nowMs };
  };
}
