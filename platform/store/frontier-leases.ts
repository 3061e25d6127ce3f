import { type SQL, sql } from 'drizzle-orm';
import type { LeasedUrl } from '../../exporter/crawl-records.ts';
import type { Executor } from './database.ts';
import { seconds } from './seconds.ts';

/**
 * Leases up to `limit` due URLs, nearest to the start page first, then the oldest. Skips rows locked by other workers.
 * Ordered by depth and not by `id` alone, so that the planner uses the index of queued rows and not the primary key
 * with the rows of all other jobs.
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

/** Leases these URLs if they are still queued. */
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

/** Leases the rows whose ids a select returns and locks. */
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
 * Extends a worker's leases once half of their time is over. Skips rows that are being settled: they don't need it, and
 * waiting for them could deadlock.
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
 * Releases the leases of these workers. A released URL keeps its attempts. Locks the crawl's row before any URL, as
 * `settleUrls` does, so that the two can't deadlock.
 */
export async function releaseLeases(db: Executor, jobId: string, tokens: readonly string[]): Promise<void> {
  await db.execute(sql`
    with crawl as materialized (select job_id from crawls where job_id = ${jobId} for update)
    update crawl_urls u set state = 'queued', lease_token = null, lease_until = null
    from crawl where u.job_id = crawl.job_id and u.state = 'leased'
      and u.lease_token = any(${sql.param(tokens)}::text[])`);
}

/** Releases all expired leases. A released URL keeps its attempts. */
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
 * Releases leased URLs that were never requested, for example because the origin asked for a longer pause than the
 * worker's time. Doesn't count as an attempt.
 */
export async function releaseUnrequested(
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
