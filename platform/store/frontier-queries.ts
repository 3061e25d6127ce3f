import { sql } from 'drizzle-orm';
import type { Executor } from './database.ts';

/** The known query strings of each page path, as `?a=1`, without skipped ones. */
export async function queryVariants(db: Executor, jobId: string): Promise<Map<string, Set<string>>> {
  const { rows } = await db.execute<{ path: string; queries: string[] }>(sql`
    select split_part(url, '?', 1) as path, json_agg(substr(url, strpos(url, '?'))) as queries from crawl_urls
    where job_id = ${jobId} and url like '%?%' and outcome is distinct from 'skipped' group by 1`);
  return new Map(rows.map(({ path, queries }) => [path, new Set(queries)]));
}
