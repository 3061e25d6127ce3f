import { sql } from 'drizzle-orm';
import type { Executor } from './database.ts';

/**
 * The paths of a frozen crawl that look like precompressed siblings (`.br`, `.gz`, `.zst`) or lie in a folder named
 * like one.
 */
export async function pathsLikeSiblings(db: Executor, jobId: string): Promise<string[]> {
  const { rows } = await db.execute<{ path: string }>(sql`
    select path from crawl_urls
    where job_id = ${jobId} and batch is not null and path ~* '\\.(br|gz|zst)(/|$)' order by path`);
  return rows.map(({ path }) => path);
}
