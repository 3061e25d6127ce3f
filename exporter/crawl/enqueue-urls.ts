import type { FoundUrl, Lease, LeasedUrl } from '../crawl-records.ts';
import type { CrawlStore } from '../ports.ts';

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
