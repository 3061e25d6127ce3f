import { type SQL, sql } from 'drizzle-orm';
import type { Lease, LeasedUrl } from '../../exporter/crawl-records.ts';
import type { Executor } from './database.ts';
import { seconds } from './seconds.ts';

/** Leases up to `limit` due URLs, or those of `urls` that are still queued. */
export async function leaseUrls(
  db: Executor,
  lease: Lease & ({ limit: number } | { urls: readonly string[] }),
): Promise<LeasedUrl[]> {
  const { jobId } = lease;
  if ('limit' in lease) return leaseChosen(db, dueUrls(jobId, lease.limit), lease);
  return lease.urls.length === 0 ? [] : leaseChosen(db, queuedUrls(jobId, lease.urls), lease);
}

/**
 * Nearest to the start page first, then the oldest. Skips rows locked by other workers. Ordered by depth and not by
 * `id` alone, so that the planner uses the index of queued rows and not the primary key with the rows of all other jobs.
 */
function dueUrls(jobId: string, limit: number): SQL {
  return sql`
    select id from crawl_urls
    where job_id = ${jobId} and state = 'queued' and (due_at is null or due_at <= now())
    order by depth, id limit ${limit} for update skip locked`;
}

function queuedUrls(jobId: string, urls: readonly string[]): SQL {
  return sql`
    select found.id from unnest(${sql.param(urls)}::text[]) as named(url)
    cross join lateral (
      select id from crawl_urls where job_id = ${jobId} and url = named.url and state = 'queued' limit 1
      for update skip locked
    ) found`;
}

/** Leases the rows whose ids a select returns and locks. */
async function leaseChosen(
  db: Executor,
  chosen: SQL,
  { token, leaseMs }: Pick<Lease, 'token' | 'leaseMs'>,
): Promise<LeasedUrl[]> {
  const { rows } = await db.execute<LeasedUrl>(sql`
    with chosen as (${chosen})
    update crawl_urls u
    set state = 'leased', lease_token = ${token}, lease_until = now() + ${seconds(leaseMs)}
    from chosen where u.id = chosen.id
    returning u.id::float8 as id, u.url, u.rank, u.depth, u.attempts + 1 as attempts, u.charset`);
  return rows;
}

/**
 * Extends a worker's leases: of batches, and of URLs once half of their time is over. Skips URLs that are being settled:
 * they don't need it, and waiting for them could deadlock.
 */
export async function renewLeases(db: Executor, { jobId, token, leaseMs }: Lease): Promise<void> {
  await db.execute(sql`
    with held as (
      select id from crawl_urls
      where job_id = ${jobId} and state = 'leased' and lease_token = ${token}
        and lease_until < now() + ${seconds(leaseMs / 2)}
      for update skip locked
    ), urls as (
      update crawl_urls u set lease_until = now() + ${seconds(leaseMs)} from held where u.id = held.id
    )
    update crawl_batches set lease_until = now() + ${seconds(leaseMs)}
    where job_id = ${jobId} and state = 'leased' and lease_token = ${token}`);
}

/**
 * Releases what these workers hold. Locks the crawl's row before any URL, as `settleUrls` does, so that the two can't
 * deadlock.
 */
export async function releaseLeases(db: Executor, jobId: string, tokens: readonly string[]): Promise<void> {
  await db.execute(sql`
    with crawl as materialized (
      select job_id from crawls where job_id = ${jobId} for update
    ), batches as (
      update crawl_batches b set state = 'queued', lease_token = null, lease_until = null
      from crawl where b.job_id = crawl.job_id and b.state = 'leased'
        and b.lease_token = any(${sql.param(tokens)}::text[])
    )
    update crawl_urls u
    set state = 'queued', lease_token = null, lease_until = null
    from crawl where u.job_id = crawl.job_id and u.state = 'leased'
      and u.lease_token = any(${sql.param(tokens)}::text[])`);
}

/** Releases all expired leases of URLs. */
export async function releaseEndedLeases(db: Executor, jobId: string): Promise<void> {
  await db.execute(sql`
    with ended as (
      select id from crawl_urls
      where job_id = ${jobId} and state = 'leased' and lease_until < now() for update skip locked
    )
    update crawl_urls u set state = 'queued', lease_token = null, lease_until = null
    from ended where u.id = ended.id`);
}
