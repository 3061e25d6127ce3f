import { sql } from 'drizzle-orm';
import type { KeptBatch } from '../../exporter/crawl-records.ts';
import type { Executor } from './database.ts';
import { pagesByNumber } from './pages-by-number.ts';

const PAGE_ROWS = 100;

/** The pieces of a kept crawl's batches, in the archive's order. */
export function keptBatches(db: Executor, jobId: string): AsyncGenerator<KeptBatch> {
  return pagesByNumber(PAGE_ROWS, async (after) => {
    const { rows } = await db.execute<KeptBatch>(sql`
      select number, size_bytes::float8 as "sizeBytes", pieces_json as "piecesJson" from crawl_batches
      where job_id = ${jobId} and number > ${after} order by number limit ${PAGE_ROWS}`);
    return rows;
  });
}

/**
 * The URLs whose targets differ between two frozen maps, or that only one of them has; undefined if there are more than
 * `limit`.
 */
export async function changedUrls(
  db: Executor,
  { jobId, baseJobId, limit }: { jobId: string; baseJobId: string; limit: number },
): Promise<Set<string> | undefined> {
  const map = (id: string) => sql`
    select url, outcome = 'missing' as missing, path, fragment, redirect_to from crawl_urls
    where job_id = ${id} and outcome <> 'skipped'`;
  const { rows } = await db.execute<{ url: string }>(sql`
    select coalesce(now.url, before.url) as url from (${map(jobId)}) now
    full join (${map(baseJobId)}) before on now.url = before.url
    where now.url is null or before.url is null
      or (now.missing, now.path, now.fragment, now.redirect_to)
        is distinct from (before.missing, before.path, before.fragment, before.redirect_to)
    limit ${limit + 1}`);
  return rows.length > limit ? undefined : new Set(rows.map(({ url }) => url));
}

/**
 * Stores where the batches begin in a completed job's archive, so that later exports can reuse the crawl. False if they
 * must not, or if another archive completed the job.
 */
export async function keepArchiveHead(
  db: Executor,
  jobId: string,
  { archiveKey, headBytes }: { archiveKey: string; headBytes: number },
): Promise<boolean> {
  const { rows } = await db.execute(sql`
    update crawls c set archive_head_bytes = ${headBytes}
    where c.job_id = ${jobId} and c.keep
      and exists (
        select 1 from export_jobs where id = c.job_id and status = 'completed' and archive_key = ${archiveKey})
    returning 1`);
  return rows.length > 0;
}
