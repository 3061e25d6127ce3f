import { sql } from 'drizzle-orm';
import type { StoredResponse } from '../../exporter/crawl-records.ts';
import type { Executor } from './database.ts';

/** The crawl's response for a URL; undefined if it has none yet. */
export async function storedResponse(db: Executor, jobId: string, url: string): Promise<StoredResponse | undefined> {
  const { rows } = await db.execute<StoredResponse>(sql`
    select outcome, status, redirect_to as "redirectTo", content_type as "contentType", object_key as "objectKey",
      coalesce(byte_offset, 0)::float8 as "byteOffset", coalesce(byte_length, 0)::float8 as "byteLength"
    from crawl_urls where job_id = ${jobId} and url = ${url} and state = 'settled'`);
  return rows[0];
}

/**
 * A crawl's first pages in the order found. `offset 0` forces a sort of all its pages: otherwise the planner follows
 * the primary key through the rows of all other jobs.
 */
export async function crawledPages(db: Executor, jobId: string, limit: number): Promise<string[]> {
  const { rows } = await db.execute<{ url: string }>(sql`
    select url from (
      select id, url from crawl_urls
      where job_id = ${jobId} and is_page and outcome = 'file' and path <> '404.html' offset 0
    ) of_job order by id limit ${limit}`);
  return rows.map(({ url }) => url);
}
