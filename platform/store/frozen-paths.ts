import { sql } from 'drizzle-orm';
import type { Executor } from './database.ts';

/** The paths of a frozen crawl's files that are named, or lie in a folder that is named, as a precompressed file is. */
export async function pathsLikeSiblings(db: Executor, jobId: string): Promise<string[]> {
  const { rows } = await db.execute<{ path: string }>(sql`
    select path from crawl_urls
    where job_id = ${jobId} and batch is not null and path ~* '\\.(br|gz|zst)(/|$)' order by path`);
  return rows.map(({ path }) => path);
}
