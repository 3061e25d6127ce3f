import type { Lease } from '../crawl-records.ts';
import type { ExportDeps } from '../export-deps.ts';
import type { CrawlScope } from './crawl-scope.ts';
import { enqueueUrls } from './enqueue-urls.ts';
import { placeFiles } from './segment.ts';
import { createStrongestUses } from './strongest-uses.ts';
import type { Visited } from './visited.ts';

/** Enqueues the links of a few visits and settles them, outside the crawl's own groups. */
export async function settleVisits(
  { store, segments }: Pick<ExportDeps, 'store' | 'segments'>,
  { lease, scope, visits }: { lease: Lease; scope: CrawlScope; visits: readonly Visited[] },
): Promise<void> {
  const found = createStrongestUses();
  for (const { leased, resources } of visits) {
    for (const resource of resources) found.add(scope.admit(resource, leased));
  }
  // Enqueue links first: if the worker dies in between, another one visits the pages again.
  await enqueueUrls(store, lease, found.list());
  await store.settleUrls({ ...lease, settled: await placeFiles(segments, lease.jobId, visits), found: [] });
}
