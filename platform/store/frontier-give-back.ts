import { sql } from 'drizzle-orm';
import type { Executor } from './database.ts';

/**
 * Gives back leased addresses that were never asked for, as when the origin wanted a pause for longer than the worker's
 * time: being held isn't a try, however often it happens.
 */
export async function giveBackUnasked(
  db: Executor,
  { jobId, token, ids }: { jobId: string; token: string; ids: readonly number[] },
): Promise<void> {
  if (ids.length === 0) return;
  await db.execute(sql`
    update crawl_urls
    set state = 'queued', lease_token = null, lease_until = null, attempts = greatest(0, attempts - 1)
    where job_id = ${jobId} and state = 'leased' and lease_token = ${token}
      and id = any(${sql.param(ids)}::bigint[])`);
}
