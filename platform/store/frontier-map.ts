import { type SQL, sql } from 'drizzle-orm';
import type { BatchFileRow, FrozenUrl, MappedUrl, SettledRow } from '../../exporter/crawl-records.ts';
import { rankOf } from '../../exporter/urls/resource-rank.ts';
import type { Executor } from './database.ts';
import { rowsOfUrls, urlPages } from './url-pages.ts';

/** Every settled URL of a job, in chunks and in no particular order. */
export function settledRows(db: Executor, jobId: string): AsyncGenerator<SettledRow[]> {
  const columns = sql`id::float8 as id, url, rank, outcome, status, reason, redirect_to as "redirectTo",
    content_type as "contentType", is_page as "isPage", byte_length::float8 as "byteLength", sha256,
    case when batch is not null then path end as path, batch`;
  return urlPages((statement) => db.execute<SettledRow>(statement), { jobId, columns, where: sql`state = 'settled'` });
}

const ROWS_PER_STATEMENT = 5_000;

/**
 * Writes decisions in few large statements. Finds rows by id alone: with the job id too, the planner would scan all of
 * the job's rows for each statement while it lacks statistics.
 */
export async function writeFrozen(db: Executor, frozen: readonly FrozenUrl[]): Promise<void> {
  for (let start = 0; start < frozen.length; start += ROWS_PER_STATEMENT) {
    await db.execute(sql`
      update crawl_urls u set outcome = v.outcome, reason = v.reason, redirect_to = v."redirectTo", path = v.path,
        fragment = v.fragment, batch = v.batch
      from json_to_recordset(${JSON.stringify(frozen.slice(start, start + ROWS_PER_STATEMENT))}::json) as v(
        id bigint, outcome text, reason text, "redirectTo" text, path text, fragment text, batch integer)
      where u.id = v.id`);
  }
}

/** The targets of these URLs in the frozen map; without `urls` all of them. */
export function mappedUrls(db: Executor, jobId: string, urls?: readonly string[]): AsyncGenerator<MappedUrl[]> {
  const columns = sql`url, outcome, redirect_to as "redirectTo", path, fragment`;
  const selection = { jobId, columns, where: sql`true` };
  const run = (statement: SQL) => db.execute<MappedUrl>(statement);
  return urls === undefined ? urlPages(run, selection) : rowsOfUrls(run, selection, urls);
}

/** The files of one batch, in no particular order (the database's isn't the bundle's). */
export async function batchFiles(db: Executor, jobId: string, batch: number): Promise<BatchFileRow[]> {
  const { rows } = await db.execute<BatchFileRow>(sql`
    select url, path, content_type as "contentType", is_page as "isPage", object_key as "objectKey",
      byte_offset::float8 as "byteOffset", byte_length::float8 as "byteLength", extraction_length as "extractionLength",
      sha256, links_offset::float8 as "linksOffset", links_length as "linksLength"
    from crawl_urls where job_id = ${jobId} and batch = ${batch}`);
  return rows;
}

/** The redirects of a frozen map, in pages. */
export function mappedRedirects(
  db: Executor,
  jobId: string,
): AsyncGenerator<Array<{ url: string; redirectTo: string; status: number }>> {
  return urlPages((statement) => db.execute<{ url: string; redirectTo: string; status: number }>(statement), {
    jobId,
    columns: sql`url, redirect_to as "redirectTo", coalesce(status, 302)::integer as status`,
    where: sql`outcome = 'redirect' and redirect_to is not null and rank > ${rankOf('probe')}`,
  });
}
