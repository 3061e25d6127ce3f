import type { FoundUrl, Lease, LeasedUrl, Visited } from '../crawl-records.ts';
import type { JobCache } from '../job-cache.ts';
import type { CrawlStore } from '../ports.ts';
import type { SegmentStore } from '../store/segment-store.ts';
import type { Resource } from '../urls/identity.ts';
import { rankOf, SKIPPED_RANK } from '../urls/resource-rank.ts';
import type { CrawlScope } from './crawl-scope.ts';
import { placeFiles } from './store-visits.ts';

/** Below that of every use. */
const UNKNOWN_RANK = SKIPPED_RANK - 1;

type StrongestUses = {
  /** If two uses are equally strong, the first one stays. */
  add(found: FoundUrl | undefined): void;
  /** Sorted by URL, as the frontier requires. */
  list(): FoundUrl[];
};

/** Collects one report to the frontier: each URL once, with its strongest use. */
export function createStrongestUses(): StrongestUses {
  const uses = new Map<string, FoundUrl>();
  return {
    add(found) {
      if (found !== undefined && found.rank > (uses.get(found.url)?.rank ?? UNKNOWN_RANK)) uses.set(found.url, found);
    },
    list: () => [...uses.values()].sort((a, b) => (a.url < b.url ? -1 : 1)),
  };
}

const FOUND_PER_STATEMENT = 2_000;

/** Adds URLs to a job's frontier, in as many statements as needed. Returns those that were leased. */
export async function enqueueUrls(store: CrawlStore, lease: Lease, found: readonly FoundUrl[]): Promise<LeasedUrl[]> {
  const leased: LeasedUrl[] = [];
  for (let start = 0; start < found.length; start += FOUND_PER_STATEMENT) {
    const piece = found.slice(start, start + FOUND_PER_STATEMENT);
    leased.push(...((await store.settleUrls({ ...lease, settled: [], found: piece }))?.taken ?? []));
  }
  return leased;
}

/** Enqueues the links of a few visits and settles them, outside the crawl's own groups. */
export async function settleVisits(
  { store, segments }: { store: CrawlStore; segments: SegmentStore },
  { lease, scope, visits }: { lease: Lease; scope: CrawlScope; visits: readonly Visited[] },
): Promise<void> {
  const found = createStrongestUses();
  for (const { leased, resources } of visits) {
    for (const resource of resources) found.add(scope.admit(resource, leased));
  }
  // Enqueue links first: if the worker dies in between, another one visits the pages again.
  await enqueueUrls(store, lease, found.list());
  const settled = await placeFiles(segments, lease.jobId, visits, { keepsLinks: true });
  await store.settleUrls({ ...lease, settled, found: [] });
}

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
    hasFound: ({ url, rank }) => (ranks.get(url) ?? UNKNOWN_RANK) >= rank,
    add(found) {
      for (const { url, rank } of found) {
        if (ranks.size >= MAX_URLS && !ranks.has(url)) continue;
        ranks.set(url, Math.max(rank, ranks.get(url) ?? rank));
      }
    },
  };
}

export type StoredUrlsFor = (jobId: string) => StoredUrls;

/**
 * Remembers what the frontiers hold, for all crawl activities of a process. Pages of a site share most links, and
 * querying the database for each of them would cost more than the crawl's own rows.
 */
export function rememberStoredUrls(jobCache: JobCache): StoredUrlsFor {
  const urls = jobCache.place<StoredUrls>();
  return (jobId) => urls(jobId, createStoredUrls);
}
