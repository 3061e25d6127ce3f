import { type SQL, sql } from 'drizzle-orm';
import type { LeasedUrl } from '../../exporter/crawl-records.ts';
import type { Executor } from './database.ts';
import { seconds } from './seconds.ts';

/**
 * Takes up to `limit` addresses that are due, those nearest to the start page first, of these the oldest. What another
 * worker is just taking is passed over, and nothing stays locked.
 *
 * By `id` alone the planner would follow the primary key, past the rows of all other jobs and those that this one has
 * settled; only the index of what is queued has this order.
 */
export async function leaseUrls(
  db: Executor,
  { jobId, token, limit, leaseMs }: { jobId: string; token: string; limit: number; leaseMs: number },
): Promise<LeasedUrl[]> {
  const due = sql`
    select id from crawl_urls
    where job_id = ${jobId} and state = 'queued' and (due_at is null or due_at <= now())
    order by depth, id limit ${limit} for update skip locked`;
  return leaseChosen(db, due, { token, leaseMs });
}

/** Takes these addresses, where they are still in line. */
export async function leaseNamedUrls(
  db: Executor,
  { jobId, token, leaseMs, urls }: { jobId: string; token: string; leaseMs: number; urls: readonly string[] },
): Promise<LeasedUrl[]> {
  if (urls.length === 0) return [];
  const named = sql`
    select found.id from unnest(${sql.param(urls)}::text[]) as named(url)
    cross join lateral (
      select id from crawl_urls where job_id = ${jobId} and url = named.url and state = 'queued' limit 1
      for update skip locked
    ) found`;
  return leaseChosen(db, named, { token, leaseMs });
}

/** Takes the rows whose ids a select chooses and locks. */
async function leaseChosen(
  db: Executor,
  chosen: SQL,
  { token, leaseMs }: { token: string; leaseMs: number },
): Promise<LeasedUrl[]> {
  const { rows } = await db.execute<LeasedUrl>(sql`
    with chosen as (${chosen})
    update crawl_urls u
    set state = 'leased', lease_token = ${token}, lease_until = now() + ${seconds(leaseMs)}, attempts = attempts + 1
    from chosen where u.id = chosen.id
    returning u.id::float8 as id, u.url, u.rank, u.depth, u.attempts`);
  return rows;
}

/**
 * Holds a worker's addresses for longer, once half of their time is over. What is just being settled is passed over:
 * it needs no more time, and to wait for it could be to wait in a circle.
 */
export async function renewLeases(
  db: Executor,
  { jobId, token, leaseMs }: { jobId: string; token: string; leaseMs: number },
): Promise<void> {
  await db.execute(sql`
    with held as (
      select id from crawl_urls
      where job_id = ${jobId} and state = 'leased' and lease_token = ${token}
        and lease_until < now() + ${seconds(leaseMs / 2)}
      for update skip locked
    )
    update crawl_urls u set lease_until = now() + ${seconds(leaseMs)} from held where u.id = held.id`);
}

/**
 * Gives back what these workers hold. A held address keeps its attempts. As in `settleUrls`, the crawl's own row is locked
 * before any address is, so the two never wait for each other.
 */
export async function releaseLeases(db: Executor, jobId: string, tokens: readonly string[]): Promise<void> {
  await db.execute(sql`
    with crawl as materialized (select job_id from crawls where job_id = ${jobId} for update)
    update crawl_urls u set state = 'queued', lease_token = null, lease_until = null
    from crawl where u.job_id = crawl.job_id and u.state = 'leased'
      and u.lease_token = any(${sql.param(tokens)}::text[])`);
}

/** Gives back everything whose lease has ended. A held address keeps its attempts. */
export async function releaseEndedLeases(db: Executor, jobId: string): Promise<void> {
  await db.execute(sql`
    with ended as (
      select id from crawl_urls
      where job_id = ${jobId} and state = 'leased' and lease_until < now() for update skip locked
    )
    update crawl_urls u set state = 'queued', lease_token = null, lease_until = null
    from ended where u.id = ended.id`);
}

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
    with crawl as materialized (select job_id from crawls where job_id = ${jobId} for update)
    update crawl_urls u
    set state = 'queued', lease_token = null, lease_until = null, attempts = greatest(0, attempts - 1)
    from crawl where u.job_id = crawl.job_id and u.state = 'leased' and u.lease_token = ${token}
      and u.id = any(${sql.param(ids)}::bigint[])`);
}
