import { settleUrls } from '../../../store/frontier.ts';
import type { ExportDeps } from '../export-deps.ts';
import type { Admission } from './admission.ts';
import { putInLine } from './put-in-line.ts';
import { placeFiles } from './segment.ts';
import { createStrongestUses } from './strongest-uses.ts';
import type { Visited } from './visited.ts';

/** What a worker holds addresses by. */
type Lease = { jobId: string; token: string; leaseMs: number };

/** Puts in line what visits lead to, and settles them. For few of them, beside the crawl's own groups. */
export async function settleVisits(
  { db, segments }: Pick<ExportDeps, 'db' | 'segments'>,
  { lease, admission, visits }: { lease: Lease; admission: Admission; visits: readonly Visited[] },
): Promise<void> {
  const found = createStrongestUses();
  for (const { leased, resources } of visits) {
    for (const resource of resources) found.add(admission.admit(resource, leased));
  }
  // First, for a worker that dies in between has another one visit them again.
  await putInLine(db, lease, found.list());
  await settleUrls(db, { ...lease, settled: await placeFiles(segments, lease.jobId, visits), found: [] });
}
