import { LRUCache } from 'lru-cache';
import type { Crawl } from './crawl-records.ts';

/** The job's cached value, or a new one from `make`. */
type OfJob<Value> = (jobId: string, make: () => Value) => Value;

/** What a process caches of the jobs that it works on. */
export type JobCache = {
  /** Creates a cache for one value per job. */
  place<Value>(): OfJob<Value>;
  /** Drops everything of a job. */
  forget(jobId: string): void;
};

/** A process rarely works on more sites than this at once. */
const MAX_JOBS = 4;
/** Many times the pause between two activities of a job; after it the job has ended, or runs elsewhere. */
const IDLE_MS = 5 * 60_000;

/**
 * Caches values of jobs until the job ends, its values are unused for `idleMs`, or `maxJobs` other jobs were used more
 * recently.
 */
export function createJobCache({ maxJobs = MAX_JOBS, idleMs = IDLE_MS } = {}): JobCache {
  // The only strong reference to a job's key: when it is dropped, so are the job's values in all places.
  const jobs = new LRUCache<string, object>({ max: maxJobs, ttl: idleMs, ttlAutopurge: true, perf: Date });

  function keyOf(jobId: string): object {
    const key = jobs.get(jobId) ?? {};
    jobs.set(jobId, key);
    return key;
  }

  return {
    place<Value>(): OfJob<Value> {
      const values = new WeakMap<object, { value: Value }>();
      return (jobId, make) => {
        const key = keyOf(jobId);
        const known = values.get(key);
        if (known !== undefined) return known.value;
        const value = make();
        values.set(key, { value });
        return value;
      };
    },
    forget: (jobId) => void jobs.delete(jobId),
  };
}

/** A cache for one asynchronous read per job; a failed read is repeated. */
export function placeForReading<Value extends NonNullable<unknown>>(
  jobCache: JobCache,
): (jobId: string) => (read: () => Promise<Value>) => Promise<Value> {
  const readings = jobCache.place<RecentReadings<string, Value>>();
  return (jobId) => {
    const reading = readings(jobId, () => createRecentReadings(1));
    return (read) => reading.of(jobId, read);
  };
}

export type RestartCheck = (crawl: Pick<Crawl, 'jobId' | 'baseJobId'>) => void;

/**
 * Drops what this process caches of a job that was restarted, here or elsewhere, because URLs that were queued then may
 * not be queued now. Call it in every stage that uses the cache.
 */
export function createRestartCheck(jobCache: JobCache): RestartCheck {
  const bases = jobCache.place<string | null>();
  return ({ jobId, baseJobId }) => {
    if (bases(jobId, () => baseJobId) === baseJobId) return;
    jobCache.forget(jobId);
    bases(jobId, () => baseJobId);
  };
}

type RecentReadings<Key, Value> = {
  /** The cached value of a key, or a new one from `read`. */
  of(key: Key, read: () => Promise<Value>): Promise<Value>;
  /** The value of a key without waiting; undefined if it isn't cached or not complete yet. */
  atHand(key: Key): Value | undefined;
};

/**
 * Caches up to `max` reads, also while they are pending. Drops the least recently used (by `of`) first, and a failed
 * one immediately, so that the next call reads again.
 */
export function createRecentReadings<Key extends string | number, Value extends NonNullable<unknown>>(
  max: number,
): RecentReadings<Key, Value> {
  const readings = new LRUCache<Key, Value, () => Promise<Value>>({
    max,
    fetchMethod: (_key, _stale, { context: read }) => read(),
    // A pending read that is dropped still has callers.
    ignoreFetchAbort: true,
  });
  return {
    of: (key, read) => readings.forceFetch(key, { context: read }),
    atHand: (key) => readings.peek(key),
  };
}
