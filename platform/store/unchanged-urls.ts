import { sql } from 'drizzle-orm';
import type { FoundUrl, UnchangedUrl } from '../../exporter/crawl-records.ts';
import { lockCrawl } from './crawl-batches.ts';
import type { Database, Executor, Transaction } from './database.ts';

/**
 * Gives a job's queued URLs that have not failed, nearest to the start page first, to the first to ask, who revalidates the
 * previous export. The others get undefined.
 */
export async function claimRevalidation(db: Executor, jobId: string, limit: number): Promise<FoundUrl[] | undefined> {
  const claimed = await db.execute(sql`
    update crawls set walked = true where job_id = ${jobId} and phase = 'crawling' and not walked returning job_id`);
  if (claimed.rows.length === 0) return undefined;
  const { rows } = await db.execute<Omit<FoundUrl, 'skip' | 'take' | 'charset'> & { charset: string | null }>(sql`
    select url, rank, depth, found_on as "foundOn", charset from crawl_urls
    where job_id = ${jobId} and state = 'queued' and attempts = 0 order by depth, id limit ${limit}`);
  return rows.map((row) => ({ ...row, skip: null, take: false, charset: row.charset ?? undefined }));
}

const ROWS_PER_STATEMENT = 5_000;

type Walk = {
  jobId: string;
  baseJobId: string;
  unchanged: readonly UnchangedUrl[];
  /** Bytes of the responses that were read to find this out, decoded. */
  decodedBytes: number;
};

/**
 * Settles URLs, new or queued, in one transaction, unless the crawl is over or doesn't reuse `baseJobId` any more
 * (`resetCrawl`). Enqueue their other links first.
 */
export async function settleUnchanged(db: Database, walk: Walk): Promise<'settled' | 'over' | 'restarted'> {
  return db.transaction(async (tx) => {
    const crawl = await lockCrawl(tx, walk.jobId);
    if (crawl?.phase !== 'crawling') return 'over';
    if (crawl.baseJobId !== walk.baseJobId) return 'restarted';
    await copyUnchanged(tx, walk);
    return 'settled';
  });
}

/**
 * Copies rows of the kept crawl with their places in its bundle. Most places stay the same, so freezing needs no write.
 */
async function copyUnchanged(tx: Transaction, { jobId, baseJobId, unchanged, decodedBytes }: Walk): Promise<void> {
  await tx.execute(sql`update crawls set decoded_bytes = decoded_bytes + ${decodedBytes} where job_id = ${jobId}`);
  for (let start = 0; start < unchanged.length; start += ROWS_PER_STATEMENT) {
    const given = unchanged.slice(start, start + ROWS_PER_STATEMENT);
    await tx.execute(sql`
      with given as materialized (
        select * from json_to_recordset(${JSON.stringify(given)}::json) as v(url text, rank smallint, depth integer,
          "foundOn" text, etag text, "lastModified" text)
      ), settled as (
        insert into crawl_urls as u (job_id, url, rank, depth, found_on, state, outcome, status, content_type,
          is_page, object_key, byte_offset, byte_length, extraction_length, sha256, path, batch, links_offset,
          links_length, etag, last_modified)
        select ${jobId}, v.url, v.rank, v.depth, v."foundOn", 'settled', k.outcome, k.status, k.content_type,
          k.is_page, k.object_key, k.byte_offset, k.byte_length, k.extraction_length, k.sha256, k.path, k.batch,
          k.links_offset, k.links_length, v.etag, v."lastModified"
        from given v cross join lateral (
          select * from crawl_urls where job_id = ${baseJobId} and url = v.url and outcome = 'file' limit 1
        ) k
        on conflict (job_id, url) do update set rank = greatest(u.rank, excluded.rank), state = excluded.state,
          outcome = excluded.outcome, status = excluded.status,
          content_type = excluded.content_type, is_page = excluded.is_page, object_key = excluded.object_key,
          byte_offset = excluded.byte_offset, byte_length = excluded.byte_length,
          extraction_length = excluded.extraction_length, sha256 = excluded.sha256, path = excluded.path,
          batch = excluded.batch, links_offset = excluded.links_offset, links_length = excluded.links_length,
          etag = excluded.etag, last_modified = excluded.last_modified
        where u.state = 'queued'
        returning u.byte_length, u.xmax = 0 as is_new
      )
      update crawls set
        url_count = url_count + (select count(*) from settled where is_new),
        settled_count = settled_count + (select count(*) from settled),
        file_count = file_count + (select count(*) from settled),
        raw_bytes = raw_bytes + (select coalesce(sum(byte_length), 0) from settled)
      where job_id = ${jobId}`);
  }
}
