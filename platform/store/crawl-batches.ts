import { and, asc, eq, gt, sql } from 'drizzle-orm';
import type { MadeBatch, SettledBatch, SpentCounts } from '../../exporter/crawl-records.ts';
import type { Executor } from './database.ts';
import { pagesByNumber } from './pages-by-number.ts';
import { crawlBatches, crawls } from './schema/crawls.ts';
import { exportJobs } from './schema/export-jobs.ts';

/** Each row holds the names of some hundred files. */
const PAGE_ROWS = 16;

/**
 * Ends the crawl: its frontier is frozen and its files are grouped into batches 0 to `batchCount` - 1. Call it in the
 * transaction that writes the paths.
 */
export async function freezeCrawl(
  tx: Executor,
  jobId: string,
  { batchCount, pageCount }: { batchCount: number; pageCount: number },
): Promise<void> {
  await tx.execute(sql`
    insert into crawl_batches (job_id, number, state)
    select ${jobId}, number, 'queued' from generate_series(0, ${batchCount}::integer - 1) as number`);
  await tx.update(crawls).set({ phase: 'frozen', batchCount, pageCount }).where(eq(crawls.jobId, jobId));
  await tx.update(exportJobs).set({ crawledAt: sql`now()` }).where(eq(exportJobs.id, jobId));
}

/** A crawl's state, and which kept crawl it reuses. */
type LockedCrawl = { phase: 'crawling' | 'frozen'; baseJobId: string | null };

/** Locks the crawl's row until the transaction ends; undefined if the crawl is gone. */
export async function lockCrawl(tx: Executor, jobId: string): Promise<LockedCrawl | undefined> {
  const columns = { phase: crawls.phase, baseJobId: crawls.baseJobId };
  const [row] = await tx.select(columns).from(crawls).where(eq(crawls.jobId, jobId)).for('update');
  return row;
}

/** Leases up to `limit` free batches, lowest first; expired leases count as free. */
export async function leaseBatches(
  db: Executor,
  { jobId, token, limit, leaseMs }: { jobId: string; token: string; limit: number; leaseMs: number },
): Promise<number[]> {
  const { rows } = await db.execute<{ number: number }>(sql`
    with free as (
      select number from crawl_batches
      where job_id = ${jobId} and (state = 'queued' or (state = 'leased' and lease_until < now()))
      order by number limit ${limit} for update skip locked
    )
    update crawl_batches b
    set state = 'leased', lease_token = ${token}, lease_until = now() + make_interval(secs => ${leaseMs / 1000}::float8)
    from free where b.job_id = ${jobId} and b.number = free.number
    returning b.number`);
  return rows.map((row) => row.number).sort((a, b) => a - b);
}

/**
 * Stores a batch's result and adds its stored bytes, in one statement, because a large export settles hundreds. Returns
 * the export's total; undefined if the lease was lost and another worker's result counts.
 */
export async function settleBatch(
  db: Executor,
  { jobId, token, batch }: { jobId: string; token: string; batch: MadeBatch },
): Promise<SpentCounts | undefined> {
  const { rows } = await db.execute<SpentCounts>(sql`
    -- Lock the crawl's row first, as everywhere, to avoid deadlocks.
    with crawl as materialized (
      select job_id from crawls where job_id = ${jobId} for update
    ), settled as (
      update crawl_batches b
      set state = 'settled', lease_token = null, lease_until = null, object_key = ${batch.objectKey},
        size_bytes = ${batch.sizeBytes}, page_count = ${batch.pageCount}, files_json = ${batch.filesJson},
        broken_json = ${batch.brokenJson}, pieces_json = ${batch.piecesJson}, parts_json = ${batch.partsJson}
      from crawl
      where b.job_id = crawl.job_id and b.number = ${batch.number} and b.lease_token = ${token}
      returning b.number
    )
    update crawls set stored_bytes = stored_bytes + ${batch.storedBytes}
    where job_id = ${jobId} and (select count(*) from settled) > 0
    returning file_count as "fileCount", decoded_bytes::float8 as "decodedBytes", stored_bytes::float8 as "storedBytes"`);
  return rows[0];
}

/** The progress of rewriting. */
export async function batchProgress(
  db: Executor,
  jobId: string,
): Promise<{ total: number; settled: number; free: number }> {
  const { rows } = await db.execute<{ total: number; settled: number; free: number }>(sql`
    select count(*)::integer as total, (count(*) filter (where state = 'settled'))::integer as settled,
      (count(*) filter (where state = 'queued' or (state = 'leased' and lease_until < now())))::integer as free
    from crawl_batches where job_id = ${jobId}`);
  return rows[0] ?? { total: 0, settled: 0, free: 0 };
}

/** The settled batches in the archive's order, in pieces: all of them, or the one with this number. */
export async function* settledBatches(db: Executor, jobId: string, wanted?: number): AsyncGenerator<SettledBatch> {
  const isWanted = wanted === undefined ? undefined : eq(crawlBatches.number, wanted);
  const batches = pagesByNumber(PAGE_ROWS, (after) =>
    db
      .select()
      .from(crawlBatches)
      .where(
        and(eq(crawlBatches.jobId, jobId), eq(crawlBatches.state, 'settled'), gt(crawlBatches.number, after), isWanted),
      )
      .orderBy(asc(crawlBatches.number))
      .limit(PAGE_ROWS),
  );
  for await (const batch of batches) {
    const { number, objectKey, sizeBytes, pageCount, filesJson, brokenJson, piecesJson, partsJson } = batch;
    const isSomewhere = objectKey !== null || partsJson !== null;
    if (!isSomewhere || sizeBytes === null || filesJson === null || brokenJson === null || piecesJson === null) {
      throw new Error(`Batch ${number} of ${jobId} has no result`);
    }
    const result = { objectKey, sizeBytes, pageCount, filesJson, brokenJson };
    yield { number, ...result, piecesJson, partsJson };
  }
}
