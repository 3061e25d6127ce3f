import { sql } from 'drizzle-orm';
import type { FrozenUrl } from '../../exporter/crawl-records.ts';
import type { CrawlStore } from '../../exporter/ports.ts';
import { freezeCrawl, lockCrawl } from './crawl-batches.ts';
import { getCrawl } from './crawls.ts';
import type { Database, Executor } from './database.ts';
import { frontierRest } from './frontier.ts';
import { settledRows, writeFrozen } from './frontier-map.ts';

/** Ends a crawl as `decide` says. The crawl's row is locked from the first read to the last write. */
export async function freezeAsDecided(
  db: Database,
  jobId: string,
  decide: Parameters<CrawlStore['freeze']>[1],
): Promise<void> {
  await db.transaction(async (tx) => {
    if ((await lockCrawl(tx, jobId))?.phase !== 'crawling') return;
    const crawl = await getCrawl(tx, jobId);
    if (crawl === undefined) return;
    const { queuedCount, leased } = await frontierRest(tx, jobId);
    const plan = await decide({ ...crawl, queuedCount, leased, rows: settledRows(tx, jobId) });
    for (const piece of inPieces(plan.frozen)) await writeFrozen(tx, piece);
    await freezeCrawl(tx, jobId, plan);
  });
}

/** Decisions per statement, which bounds memory however large the site is. */
const WRITTEN_ROWS = 2_000;

function* inPieces(frozen: Iterable<FrozenUrl>): Generator<FrozenUrl[]> {
  let piece: FrozenUrl[] = [];
  for (const row of frozen) {
    piece.push(row);
    if (piece.length < WRITTEN_ROWS) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** The paths of a frozen crawl's files that match a regular expression, ignoring case. */
export async function pathsMatching(db: Executor, jobId: string, pattern: string): Promise<string[]> {
  const { rows } = await db.execute<{ path: string }>(sql`
    select path from crawl_urls
    where job_id = ${jobId} and batch is not null and path ~* ${pattern} order by path collate "C"`);
  return rows.map(({ path }) => path);
}
