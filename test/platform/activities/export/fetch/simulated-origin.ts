import type {
  LimiterClock,
  OriginLimiter,
  RequestOutcome,
} from '../../../../../platform/activities/export/fetch/origin-limiter.ts';

/** A clock that moves only when told, with what waits on it. */
export type SimulatedClock = LimiterClock & {
  /** Runs everything that is due until nothing waits, with promises settled in between. */
  run(): Promise<void>;
};

export function createSimulatedClock(): SimulatedClock {
  let now = 0;
  let count = 0;
  const due: Array<{ at: number; order: number; callback: () => void }> = [];
  return {
    nowMs: () => now,
    after(ms, callback) {
      count += 1;
      due.push({ at: now + Math.max(0, ms), order: count, callback });
    },
    async run() {
      await new Promise(setImmediate);
      while (due.length > 0) {
        due.sort((a, b) => a.at - b.at || a.order - b.order);
        const next = due.shift();
        now = Math.max(now, next?.at ?? now);
        next?.callback();
        await new Promise(setImmediate);
      }
    },
  };
}

/** What an origin makes of a request: how long until the answer begins, and how it ends. */
export type Reply = { latencyMs: number; outcome?: 'overloaded' | 'none' };
export type SimulatedOrigin = (request: { nowMs: number; active: number; number: number }) => Reply;

export type Crawl = {
  /** When each request began, in order. */
  starts: number[];
  /** The most under way together. */
  most: number;
  /** Whether a request ever began past the limit. */
  overstepped: boolean;
  endedAtMs: number;
  /** The limit after each answer. */
  limits: number[];
};

/** Asks a simulated origin for so many pages, all of them in line from the start. */
export async function crawlSimulated(
  { limiter, clock }: { limiter: OriginLimiter; clock: SimulatedClock },
  { pages, origin }: { pages: number; origin: SimulatedOrigin },
): Promise<Crawl> {
  const crawl: Crawl = { starts: [], most: 0, overstepped: false, endedAtMs: 0, limits: [] };
  const { signal } = new AbortController();
  let active = 0;
  const visit = async (number: number): Promise<void> => {
    const release = await limiter.acquire('origin', signal);
    active += 1;
    crawl.most = Math.max(crawl.most, active);
    crawl.overstepped ||= active > limiter.limitOf('origin');
    crawl.starts.push(clock.nowMs());
    const { latencyMs, outcome } = origin({ nowMs: clock.nowMs(), active, number });
    await new Promise<void>((resolve) => clock.after(latencyMs, resolve));
    active -= 1;
    const told: RequestOutcome = outcome === undefined ? { kind: 'answered', latencyMs } : { kind: outcome };
    release(told);
    crawl.limits.push(limiter.limitOf('origin'));
    crawl.endedAtMs = clock.nowMs();
  };
  const all = Promise.all(Array.from({ length: pages }, (_, number) => visit(number)));
  await clock.run();
  await all;
  return crawl;
}

/** An origin that works on one request after the other, each for so long. */
export function oneAtATime(workMs: number): SimulatedOrigin {
  let freeAt = 0;
  return ({ nowMs }) => {
    freeAt = Math.max(freeAt, nowMs) + workMs;
    return { latencyMs: freeAt - nowMs };
  };
}
