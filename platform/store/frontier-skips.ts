import { sql } from 'drizzle-orm';
import type { Skips } from '../../exporter/crawl-records.ts';
import type { Executor } from './database.ts';

/** How many URLs of a job were skipped by name so far, by reason. */
export async function countSkips(db: Executor, jobId: string): Promise<Map<string, number>> {
  const { rows } = await db.execute<{ reason: string; count: number }>(sql`
    select coalesce(reason, '') as reason, count(*)::integer as count from crawl_urls
    where job_id = ${jobId} and outcome = 'skipped' group by 1`);
  return new Map(rows.map(({ reason, count }) => [reason, count]));
}

/** The same with examples, the lowest URLs of each reason; the most frequent reason first. */
export async function skipsByReason(db: Executor, jobId: string, maxExamples: number): Promise<Skips[]> {
  const { rows } = await db.execute<Skips>(sql`
    select reason, max(total)::integer as count, json_agg(url order by url) as examples from (
      select coalesce(reason, '') as reason, url, count(*) over same as total,
        row_number() over (same order by url) as number
      from crawl_urls where job_id = ${jobId} and outcome = 'skipped'
      window same as (partition by coalesce(reason, ''))
    ) ranked where number <= ${maxExamples} group by reason order by 2 desc, 1`);
  return rows;
}
