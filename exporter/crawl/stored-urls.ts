import type { FoundUrl } from '../crawl-records.ts';
import type { Resource } from '../document/types.ts';
import type { JobCache } from '../job-cache.ts';
import { rankOf } from './resource-rank.ts';

/** What the frontier of one job is known to hold: addresses with the strongest use reported of each. */
export type StoredUrls = {
  /** Whether reporting the resource could tell the frontier nothing new. */
  has(resource: Resource): boolean;
  hasFound(found: FoundUrl): boolean;
  /** After the statement that stored them, not before: a worker that fails in between has told nobody. */
  add(found: ReadonlyArray<Pick<FoundUrl, 'url' | 'rank'>>): void;
};

/** Addresses of a job that a process remembers; past them the frontier itself sorts out what it has. */
const MAX_URLS = 200_000;

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
 * addresses a thousand times, and to ask the database about each of them again costs more than the crawl's own rows.
 */
export function createStoredUrlsOfJobs(jobCache: JobCache): { of(jobId: string): StoredUrls } {
  const urls = jobCache.place<StoredUrls>();
  return { of: (jobId) => urls(jobId, createStoredUrls) };
}
