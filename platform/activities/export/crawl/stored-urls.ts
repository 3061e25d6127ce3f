import type { FoundUrl } from '../../../store/frontier.ts';
import type { Resource } from '../page/types.ts';
import { rankOf } from '../resource-rank.ts';

/** What the frontier of one job is known to hold: addresses with the strongest use reported of each. */
export type StoredUrls = {
  /** Whether reporting the resource could tell the frontier nothing new. */
  has(resource: Resource): boolean;
  hasFound(found: FoundUrl): boolean;
  /** After the statement that stored them, not before: a worker that fails in between has told nobody. */
  add(found: readonly FoundUrl[]): void;
};

/** Jobs and addresses that a process remembers; past them the frontier itself sorts out what it has. */
const MAX_JOBS = 4;
const MAX_URLS = 200_000;
/** Many times the pause between two activities of a job; after it the job has ended, or is crawled elsewhere. */
const IDLE_MS = 5 * 60_000;

function createStoredUrls(): StoredUrls {
  const ranks = new Map<string, number>();
  return {
    has({ url, kind }) {
      const rank = ranks.get(url);
      if (rank === undefined || rank < rankOf('asset')) return false;
      // Whoever finds a query string counts it, wherever it was found before.
      return rank >= rankOf(kind === 'page' || kind === 'unfollowed' ? 'page' : 'asset') && !url.includes('?');
    },
    hasFound: ({ url, rank }) => (ranks.get(url) ?? -1) >= rank,
    add(found) {
      for (const { url, rank } of found) {
        if (ranks.size >= MAX_URLS && !ranks.has(url)) continue;
        ranks.set(url, Math.max(rank, ranks.get(url) ?? rank));
      }
    },
  };
}

/**
 * Remembers what the frontiers hold, for all activities of a process that crawl: pages of a site link to the same
 * addresses a thousand times, and to ask the database about each of them again costs more than the crawl's own rows. A
 * job that nobody asked for in `idleMs` is forgotten.
 */
export function createStoredUrlsOfJobs({ idleMs = IDLE_MS } = {}): { of(jobId: string): StoredUrls } {
  const jobs = new Map<string, { urls: StoredUrls; timer: NodeJS.Timeout }>();

  function take(jobId: string): StoredUrls | undefined {
    const job = jobs.get(jobId);
    clearTimeout(job?.timer);
    jobs.delete(jobId);
    return job?.urls;
  }

  return {
    of(jobId) {
      const urls = take(jobId) ?? createStoredUrls();
      // Put in anew, it is the last to be dropped.
      jobs.set(jobId, { urls, timer: setTimeout(() => take(jobId), idleMs).unref() });
      for (const oldest of jobs.keys()) {
        if (jobs.size <= MAX_JOBS) break;
        take(oldest);
      }
      return urls;
    },
  };
}
