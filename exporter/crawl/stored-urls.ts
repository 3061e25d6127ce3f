import type { FoundUrl } from '../crawl-records.ts';
import type { Resource } from '../document/types.ts';
import type { JobCache } from '../job-cache.ts';
import { rankOf } from './resource-rank.ts';

/** What a job's frontier is known to hold: URLs with the strongest use reported for each. */
export type StoredUrls = {
  /** Whether the frontier already knows everything about the resource. */
  has(resource: Resource): boolean;
  hasFound(found: FoundUrl): boolean;
  /** Call it after the statement that stored the URLs: a worker that fails earlier has reported nothing. */
  add(found: ReadonlyArray<Pick<FoundUrl, 'url' | 'rank'>>): void;
};

/** URLs per job that a process remembers; past this the frontier filters duplicates itself. */
const MAX_URLS = 200_000;

function createStoredUrls(): StoredUrls {
  const ranks = new Map<string, number>();
  return {
    has({ url, kind }) {
      const rank = ranks.get(url);
      if (rank === undefined || rank < rankOf('asset')) return false;
      // URLs with a query string always go through the crawl scope, which counts them per path.
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
 * Remembers what the frontiers hold, for all crawl activities of a process. Pages of a site share most links, and
 * querying the database for each of them would cost more than the crawl's own rows.
 */
export function createStoredUrlsOfJobs(jobCache: JobCache): { of(jobId: string): StoredUrls } {
  const urls = jobCache.place<StoredUrls>();
  return { of: (jobId) => urls(jobId, createStoredUrls) };
}
