import type { Database } from '../../../store/database.ts';
import { type FoundUrl, type LeasedUrl, settleUrls } from '../../../store/frontier.ts';

const FOUND_PER_STATEMENT = 2_000;

/** Adds addresses to a job's frontier, in as many statements as it takes. Returns those that it was to lease. */
export async function putInLine(
  db: Database,
  lease: { jobId: string; token: string; leaseMs: number },
  found: readonly FoundUrl[],
): Promise<LeasedUrl[]> {
  const leased: LeasedUrl[] = [];
  for (let start = 0; start < found.length; start += FOUND_PER_STATEMENT) {
    const piece = found.slice(start, start + FOUND_PER_STATEMENT);
    leased.push(...((await settleUrls(db, { ...lease, settled: [], found: piece }))?.taken ?? []));
  }
  return leased;
}
