import { sql } from 'drizzle-orm';
import type { CrawlNotice } from '../../exporter/crawl-records.ts';
import type { Executor } from './database.ts';

/** The maximum number of notices of one export; a report with more would be unreadable. */
const MAX_NOTICES = 2_000;

/** Adds notices during the crawl. A repeated attempt may add the same one twice. */
export async function addNotices(
  db: Executor,
  { jobId, url, texts }: { jobId: string; url: string | null; texts: readonly string[] },
): Promise<void> {
  if (texts.length === 0) return;
  await db.execute(sql`
    insert into crawl_notices (job_id, url, text)
    select ${jobId}, ${url}::text, t from unnest(${sql.param(texts)}::text[]) as t
    where exists (select 1 from crawls where job_id = ${jobId} and phase = 'crawling')
      and (select count(*) from crawl_notices where job_id = ${jobId}) < ${MAX_NOTICES}`);
}

/** A job's distinct notices, ordered by URL. */
export async function listNotices(db: Executor, jobId: string): Promise<CrawlNotice[]> {
  const { rows } = await db.execute<CrawlNotice>(sql`
    select distinct url, text from crawl_notices where job_id = ${jobId} order by url nulls first, text`);
  return rows;
}
