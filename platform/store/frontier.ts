import { sql } from 'drizzle-orm';
import type {
  FoundUrl,
  FrontierCounts,
  LeasedUrl,
  ScopeCounts,
  SettledUrl,
  SpentCounts,
  StoredResponse,
} from '../../exporter/crawl-records.ts';
import { rankOf } from '../../exporter/urls/resource-rank.ts';
import type { Executor } from './database.ts';
import { seconds } from './seconds.ts';

/**
 * Applies one worker's results atomically: settles the rows it still holds, inserts new URLs (leased to it if
 * requested), and updates the counts. Returns the counts and the leased URLs; undefined if the crawl is over.
 * A URL may be both settled and found; since one statement changes a row only once, the settling part also applies the
 * stronger use. The crawl's row is locked first, because two workers that settle and find each other's URLs could
 * deadlock. Rows are matched by id and token alone: with the job id too, the planner would scan all rows of a new job,
 * for which it has no statistics.
 */
export async function settleUrls(
  db: Executor,
  input: {
    jobId: string;
    token: string;
    leaseMs: number;
    settled: readonly SettledUrl[];
    /** Sorted by URL, so that two workers inserting the same rows can't deadlock. */
    found: readonly FoundUrl[];
  },
): Promise<(FrontierCounts & SpentCounts & { taken: LeasedUrl[] }) | undefined> {
  const { jobId, token, leaseMs } = input;
  const leaseUntil = sql`now() + ${seconds(leaseMs)}`;
  const ids = input.settled.map(({ id }) => id);
  const { rows } = await db.execute<FrontierCounts & SpentCounts & { taken: LeasedUrl[] | null }>(sql`
    with crawl as materialized (
      select job_id from crawls where job_id = ${jobId} and phase = 'crawling' for update
    ), wanted as materialized (
      select v.* from crawl, json_to_recordset(${JSON.stringify(input.found)}::json) as v(
        url text, rank smallint, depth integer, "foundOn" text, skip text, take boolean, charset text)
    ), result as materialized (
      select v.* from crawl, json_to_recordset(${JSON.stringify(input.settled)}::json) as v(
        id bigint, outcome text, "dueInMs" float8, status smallint, reason text, "redirectTo" text,
        "contentType" text, "isPage" boolean, "objectKey" text, "byteOffset" bigint, "byteLength" bigint,
        "extractionLength" integer, sha256 text, path text, etag text, "lastModified" text, "linksOffset" bigint,
        "linksLength" integer, "decodedBytes" bigint, "storedBytes" bigint)
    ), settling as materialized (
      select id, url from crawl_urls where id = any(${sql.param(ids)}::bigint[]) and lease_token = ${token}
    ), settled as (
      update crawl_urls u
      set state = case v.outcome when 'retry' then 'queued' else 'settled' end,
        outcome = nullif(v.outcome, 'retry'),
        attempts = u.attempts + case v.outcome when 'retry' then 1 else 0 end,
        due_at = now() + make_interval(secs => v."dueInMs" / 1000),
        rank = greatest(u.rank, w.rank), lease_token = null, lease_until = null,
        status = v.status, reason = v.reason, redirect_to = v."redirectTo", content_type = v."contentType",
        is_page = coalesce(v."isPage", false), object_key = v."objectKey", byte_offset = v."byteOffset",
        byte_length = v."byteLength", extraction_length = v."extractionLength", sha256 = v.sha256, path = v.path,
        etag = v.etag, last_modified = v."lastModified", links_offset = v."linksOffset", links_length = v."linksLength"
      from result v join settling s on s.id = v.id left join wanted w on w.url = s.url
      where u.id = v.id and u.lease_token = ${token}
      returning u.state, u.outcome, u.byte_length, v."decodedBytes" as decoded_bytes, v."storedBytes" as stored_bytes
    ), found as (
      insert into crawl_urls as u
        (job_id, url, rank, depth, found_on, charset, state, outcome, reason, lease_token, lease_until)
      select ${jobId}, v.url, v.rank, v.depth, v."foundOn", v.charset,
        case when v.skip is not null then 'settled' when v.take then 'leased' else 'queued' end,
        case when v.skip is not null then 'skipped' end, v.skip,
        case when v.take then ${token}::text end, case when v.take then ${leaseUntil} end
      from wanted v
      where not exists (select 1 from settling s where s.url = v.url)
      on conflict (job_id, url) do update set rank = excluded.rank,
        state = case when u.outcome = 'skipped' then 'queued' else u.state end, outcome = nullif(u.outcome, 'skipped')
      where u.rank < excluded.rank
      returning u.id, u.url, u.rank, u.depth, u.attempts + 1 as attempts, u.charset, u.state, u.lease_token, u.xmax = 0 as is_new
    )
    update crawls set
      url_count = url_count + (select count(*) from found where is_new and state <> 'settled'),
      settled_count = settled_count + (select count(*) from settled where state = 'settled'),
      raw_bytes = raw_bytes + (select coalesce(sum(byte_length), 0) from settled),
      file_count = file_count + (select count(*) from settled where outcome = 'file'),
      decoded_bytes = decoded_bytes + (select coalesce(sum(decoded_bytes), 0) from settled),
      stored_bytes = stored_bytes + (select coalesce(sum(stored_bytes), 0) from settled),
      skipped_count = skipped_count + (select count(*) from found where is_new and state = 'settled')
    where job_id = ${jobId} and phase = 'crawling'
    returning url_count as "urlCount", settled_count as "settledCount", file_count as "fileCount",
      decoded_bytes::float8 as "decodedBytes", stored_bytes::float8 as "storedBytes", (
      select json_agg(json_build_object(
        'id', id, 'url', url, 'rank', rank, 'depth', depth, 'attempts', attempts, 'charset', charset))
      from found where is_new and state = 'leased') as taken`);
  const [row] = rows;
  return row && { ...row, taken: row.taken ?? [] };
}

/** Whether any worker has something left to fetch, and when the next queued URL is due. */
export async function frontierRest(
  db: Executor,
  jobId: string,
): Promise<{ queuedCount: number; leased: boolean; dueInMs: number | null }> {
  const { rows } = await db.execute<{ queuedCount: number; leased: boolean; dueInMs: number | null }>(sql`
    select count(*)::float8 as "queuedCount",
      -- greatest() passes over nulls, so without a row it would say "due now".
      case when count(*) > 0 then
        (extract(epoch from greatest(min(coalesce(due_at, now())) - now(), interval '0')) * 1000)::float8
      end as "dueInMs",
      exists (select 1 from crawl_urls where job_id = ${jobId} and state = 'leased') as leased
    from crawl_urls where job_id = ${jobId} and state = 'queued'`);
  return rows[0] ?? { queuedCount: 0, leased: false, dueInMs: null };
}

/** Number of pages so far; each path in the bundle counts once. */
export async function countPages(db: Executor, jobId: string): Promise<number> {
  const { rows } = await db.execute<{ pages: number }>(sql`
    select count(distinct path)::integer as pages from crawl_urls
    where job_id = ${jobId} and is_page and path <> '404.html'`);
  return rows[0]?.pages ?? 0;
}

/** What the limits of the crawl's scope count. */
export async function scopeCounts(db: Executor, jobId: string): Promise<ScopeCounts> {
  const isGuess = sql`rank = ${rankOf('guess')} and outcome is distinct from 'skipped'`;
  const [variants, skips, guesses] = await Promise.all([
    db.execute<{ path: string; queries: string[] }>(sql`
      select split_part(url, '?', 1) as path, json_agg(substr(url, strpos(url, '?'))) as queries from crawl_urls
      where job_id = ${jobId} and url like '%?%' and rank > ${rankOf('guess')} group by 1`),
    db.execute<{ reason: string; count: number }>(sql`
      select coalesce(reason, '') as reason, count(*)::integer as count from crawl_urls
      where job_id = ${jobId} and outcome = 'skipped' group by 1`),
    db.execute<{ count: number }>(sql`
      select count(*)::integer as count from crawl_urls where job_id = ${jobId} and ${isGuess}`),
  ]);
  return {
    variants: new Map(variants.rows.map(({ path, queries }) => [path, new Set(queries)])),
    skips: new Map(skips.rows.map(({ reason, count }) => [reason, count])),
    guessCount: guesses.rows[0]?.count ?? 0,
  };
}

/** The crawl's response for a URL; undefined if it has none yet. */
export async function storedResponse(db: Executor, jobId: string, url: string): Promise<StoredResponse | undefined> {
  const { rows } = await db.execute<StoredResponse>(sql`
    select outcome, status, redirect_to as "redirectTo", content_type as "contentType", object_key as "objectKey",
      coalesce(byte_offset, 0)::float8 as "byteOffset", coalesce(byte_length, 0)::float8 as "byteLength"
    from crawl_urls where job_id = ${jobId} and url = ${url} and state = 'settled'`);
  return rows[0];
}

/**
 * A crawl's first pages in the order found. `offset 0` forces a sort of all its pages: otherwise the planner follows
 * the primary key through the rows of all other jobs.
 */
export async function crawledPages(db: Executor, jobId: string, limit: number): Promise<string[]> {
  const { rows } = await db.execute<{ url: string }>(sql`
    select url from (
      select id, url from crawl_urls
      where job_id = ${jobId} and is_page and outcome = 'file' and path <> '404.html' offset 0
    ) of_job order by id limit ${limit}`);
  return rows.map(({ url }) => url);
}
