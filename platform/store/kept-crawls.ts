import { type SQL, sql } from 'drizzle-orm';
import type { PreviousFile } from '../../exporter/crawl-records.ts';
import type { Executor, Transaction } from './database.ts';
import { lockUntilCommit } from './locks.ts';
import { rowsOfUrls, urlPages } from './url-pages.ts';

/** The files of a crawl, in chunks: all of them, or those of these URLs. */
export function fetchedFiles(db: Executor, jobId: string, urls?: readonly string[]): AsyncGenerator<PreviousFile[]> {
  const run = (statement: SQL) => db.execute<PreviousFile>(statement);
  const selection = {
    jobId,
    columns: sql`url, status, content_type as "contentType", is_page as "isPage",
      object_key as "objectKey", byte_offset::float8 as "byteOffset", byte_length::float8 as "byteLength",
      extraction_length as "extractionLength", sha256, etag, last_modified as "lastModified",
      links_offset::float8 as "linksOffset", links_length as "linksLength"`,
    where: sql`outcome = 'file' and object_key is not null`,
  };
  return urls === undefined ? urlPages(run, selection) : rowsOfUrls(run, selection, urls);
}

/** Lock for adding and deleting a project's crawls, so that none is chosen while it is being deleted. */
export function lockCrawlsOf(tx: Transaction, projectId: string): Promise<void> {
  return lockUntilCommit(tx, `crawls:${projectId}`);
}

/**
 * The crawl that a project keeps: that of its newest completed export of the whole site, unless that one must not be
 * kept. Older ones are to be deleted.
 */
function keptCrawl(projectId: string): SQL {
  return sql`
    select c.job_id from crawls c where c.keep and c.phase = 'frozen' and c.job_id = (
      select id from export_jobs
      where project_id = ${projectId} and status = 'completed' and paths_json is null
      order by sequence desc limit 1)`;
}

/** The crawl that an export with this key may reuse; null if there is none or it isn't fully reliable. */
export async function findBase(tx: Transaction, projectId: string, reuseKey: string): Promise<string | null> {
  const { rows } = await tx.execute<{ jobId: string }>(sql`
    select job_id as "jobId" from crawls
    where reuse_key = ${reuseKey} and archive_head_bytes is not null and job_id in (${keptCrawl(projectId)})`);
  return rows[0]?.jobId ?? null;
}

/** Marks a crawl as not to be kept, because its data can't be relied on. */
export async function forbidReuse(db: Executor, jobId: string): Promise<void> {
  await db.execute(sql`update crawls set keep = false where job_id = ${jobId} and keep`);
}

/**
 * Deletes the crawls of a project's ended exports, except the kept one and those that a running export reuses. Deletes
 * the crawl's own row first, so that nothing is added meanwhile. Returns the unreferenced objects; if the caller dies
 * before deleting them, the sweep does.
 */
export async function forgetCrawls(db: Executor, projectId: string): Promise<string[]> {
  return db.transaction(async (tx) => {
    await lockCrawlsOf(tx, projectId);
    const { rows } = await tx.execute<{ jobId: string }>(sql`
      delete from crawls c using export_jobs j
      where j.id = c.job_id and j.project_id = ${projectId} and j.status in ('completed', 'failed')
        and c.job_id not in (${keptCrawl(projectId)})
        and not exists (
          select 1 from crawls d join export_jobs k on k.id = d.job_id
          where d.base_job_id = c.job_id and k.status in ('queued', 'running'))
      returning c.job_id as "jobId"`);
    const gone = sql`${sql.param(rows.map(({ jobId }) => jobId))}::text[]`;
    if (rows.length === 0) return [];
    const unused = await tx.execute<{ objectKey: string }>(sql`
      select distinct object_key as "objectKey" from crawl_urls where job_id = any(${gone}) and object_key is not null
      except select object_key from crawl_urls where job_id in (${crawlsOf(projectId)}) and object_key is not null`);
    await deleteCrawlRows(tx, gone);
    return unused.rows.map(({ objectKey }) => objectKey);
  });
}

/** Deletes all rows of these crawls in other tables. `jobIds` is a `text[]`. */
export async function deleteCrawlRows(tx: Executor, jobIds: SQL): Promise<void> {
  for (const table of ['crawl_batches', 'crawl_urls', 'crawl_notices']) {
    await tx.execute(sql`delete from ${sql.identifier(table)} where job_id = any(${jobIds})`);
  }
}

function crawlsOf(projectId: string): SQL {
  return sql`select c.job_id from crawls c join export_jobs j on j.id = c.job_id where j.project_id = ${projectId}`;
}

/** The objects with the prefix that a crawl of the project refers to. */
export async function usedObjects(db: Executor, projectId: string, prefix: string): Promise<Set<string>> {
  const { rows } = await db.execute<{ objectKey: string }>(sql`
    select distinct object_key as "objectKey" from crawl_urls
    where job_id in (${crawlsOf(projectId)}) and starts_with(object_key, ${prefix})`);
  return new Set(rows.map(({ objectKey }) => objectKey));
}

/** Projects with crawls to delete: of exports that ended before this time, except the kept one. */
export async function projectsToForget(db: Executor, endedBefore: Date): Promise<string[]> {
  const { rows } = await db.execute<{ projectId: string }>(sql`
    select j.project_id as "projectId" from crawls c join export_jobs j on j.id = c.job_id
    where j.status in ('completed', 'failed') and j.finished_at < ${endedBefore.toISOString()}
    group by 1 having count(*) > 1 or bool_or(j.status = 'failed' or not c.keep)`);
  return rows.map(({ projectId }) => projectId);
}
