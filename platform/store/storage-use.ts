import { sql } from 'drizzle-orm';
import type { Executor } from './database.ts';

/** What an organization has in the object store. */
export type StorageUse = {
  bundles: number;
  bundleBytes: number;
  /** Kept for the next export, or in use by a running one. */
  crawlBytes: number;
  logs: number;
  logBytes: number;
};

export async function readStorageUse(db: Executor, organizationId: string): Promise<StorageUse> {
  const { rows } = await db.execute<StorageUse>(sql`
    select * from (
    select count(job.archive_key)::integer as bundles,
      coalesce(sum(job.archive_size_bytes) filter (where job.archive_key is not null), 0)::float8 as "bundleBytes",
      coalesce(sum(crawl.stored_bytes), 0)::float8 as "crawlBytes"
    from export_jobs job left join crawls crawl on crawl.job_id = job.id
    where job.organization_id = ${organizationId}) exports, (
    select count(run.log_key)::integer as logs, coalesce(sum(run.log_size_bytes), 0)::float8 as "logBytes"
    from agent_runs run join agent_jobs job on job.id = run.job_id
    where job.organization_id = ${organizationId}) agents`);
  return rows[0] ?? { bundles: 0, bundleBytes: 0, crawlBytes: 0, logs: 0, logBytes: 0 };
}
