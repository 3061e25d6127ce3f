import type { Crawl } from './crawl-records.ts';
import { createRecentReadings, type RecentReadings } from './recent-readings.ts';

/** What was made for a job, or what `make` makes of it now. */
export type OfJob<Value> = (jobId: string, make: () => Value) => Value;

/** What a process caches of the jobs that it works on. */
export type JobCache = {
  /** A place for one thing of each job. */
  place<Value>(): OfJob<Value>;
  /** Drops everything of a job. */
  forget(jobId: string): void;
};

/** A process rarely works on more sites than this at once. */
const MAX_JOBS = 4;
/** Many times the pause between two activities of a job; after it the job has ended, or goes on elsewhere. */
const IDLE_MS = 5 * 60_000;

/**
 * Remembers things of jobs until their jobs end, until nobody asked for anything of theirs in `idleMs`, or until
 * `maxJobs` others were asked for since.
 */
export function createJobCache({ maxJobs = MAX_JOBS, idleMs = IDLE_MS } = {}): JobCache {
  // A job's key is held here alone: with it goes what all places have of the job.
  const jobs = new Map<string, { key: object; timer: NodeJS.Timeout }>();

  function forget(jobId: string): void {
    clearTimeout(jobs.get(jobId)?.timer);
    jobs.delete(jobId);
  }

  function keyOf(jobId: string): object {
    const key = jobs.get(jobId)?.key ?? {};
    forget(jobId);
    // Put in anew, it is the last to be dropped.
    jobs.set(jobId, { key, timer: setTimeout(() => forget(jobId), idleMs).unref() });
    for (const oldest of jobs.keys()) {
      if (jobs.size <= maxJobs) break;
      forget(oldest);
    }
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
    forget,
  };
}

/** A place for one reading of each job, which is read once while the job is remembered, and anew where that failed. */
export function placeForReading<Value>(
  jobCache: JobCache,
): (jobId: string) => (read: () => Promise<Value>) => Promise<Value> {
  const readings = jobCache.place<RecentReadings<string, Value>>();
  return (jobId) => {
    const reading = readings(jobId, () => createRecentReadings(1));
    return (read) => reading.of(jobId, read);
  };
}

/**
 * Drops what this process caches of a job that was restarted since, here or elsewhere: URLs that were queued then needn't
 * be now. Call it in every stage that uses the cache.
 */
export function createRestartCheck(jobCache: JobCache): (crawl: Pick<Crawl, 'jobId' | 'baseJobId'>) => void {
  const bases = jobCache.place<string | null>();
  return ({ jobId, baseJobId }) => {
    if (bases(jobId, () => baseJobId) === baseJobId) return;
    jobCache.forget(jobId);
    bases(jobId, () => baseJobId);
  };
}
