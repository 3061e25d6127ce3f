import { sql } from 'drizzle-orm';
import type {
  CrawlFindings,
  CrawlNotice,
  FindingsSelect,
  ReportedUrl,
  ReportedUrls,
  SettledRow,
  Skips,
} from '../../exporter/crawl-records.ts';
import { SKIPPED_RANK } from '../../exporter/urls/resource-rank.ts';
import type { Executor } from './database.ts';

/** What the report says of a crawl. */
export async function crawlFindings(db: Executor, select: FindingsSelect): Promise<CrawlFindings> {
  const { jobId, minRank, limit, maxExamples, ownPrefix } = select;
  // Beside the lists, not after them: it reads all files.
  const counting = countReused(db, jobId, ownPrefix);
  // The failure is handled when the lists are there.
  counting.catch(() => undefined);
  return {
    missing: await reportedUrls(db, { jobId, outcome: 'missing', minRank, limit }),
    redirects: await reportedUrls(db, { jobId, outcome: 'redirect', minRank, limit }),
    skipped: await reportedUrls(db, { jobId, outcome: 'skipped', minRank: SKIPPED_RANK, limit }),
    unread: await reportedUrls(db, { jobId, outcome: 'file', minRank: 0, limit }),
    skips: await skipsByReason(db, jobId, maxExamples),
    notices: await listNotices(db, jobId),
    reusedCount: await counting,
  };
}

/** URLs of one outcome for the report, in the order they were found, and how many there are in all. */
async function reportedUrls(
  db: Executor,
  { jobId, outcome, minRank, limit }: { jobId: string; outcome: SettledRow['outcome']; minRank: number; limit: number },
): Promise<ReportedUrls> {
  const chosen = sql`
    job_id = ${jobId} and outcome = ${outcome} and rank >= ${minRank} and (outcome <> 'file' or reason is not null)`;
  const { rows } = await db.execute<ReportedUrl>(sql`
    select url, rank, status, reason, redirect_to as "redirectTo", found_on as "foundOn"
    from (select * from crawl_urls where ${chosen} offset 0) of_job order by id limit ${limit + 1}`);
  if (rows.length <= limit) return { rows, total: rows.length };
  const counted = await db.execute<{ total: number }>(
    sql`select count(*)::integer as total from crawl_urls where ${chosen}`,
  );
  return { rows: rows.slice(0, limit), total: counted.rows[0]?.total ?? rows.length };
}

/** Skipped URLs by reason, with the lowest as examples; the most frequent reason first. */
async function skipsByReason(db: Executor, jobId: string, maxExamples: number): Promise<Skips[]> {
  const { rows } = await db.execute<Skips>(sql`
    select reason, max(total)::integer as count, json_agg(url order by url) as examples from (
      select coalesce(reason, '') as reason, url, count(*) over same as total,
        row_number() over (same order by url) as number
      from crawl_urls where job_id = ${jobId} and outcome = 'skipped'
      window same as (partition by coalesce(reason, ''))
    ) ranked where number <= ${maxExamples} group by reason order by 2 desc, 1`);
  return rows;
}

/** How many files of a crawl lie where an earlier export stored them; its own keys begin with `ownPrefix`. */
export async function countReused(db: Executor, jobId: string, ownPrefix: string): Promise<number> {
  const { rows } = await db.execute<{ count: number }>(sql`
    select count(*)::integer as count from crawl_urls
    where job_id = ${jobId} and outcome = 'file' and not starts_with(object_key, ${ownPrefix})`);
  return rows[0]?.count ?? 0;
}

/** The maximum number of notices of one export; a report with more would be unreadable. */
const MAX_NOTICES = 2_000;

/** Adds notices during the crawl. A repeated attempt may add the same one twice. */
export async function addNotices(
  db: Executor,
  { jobId, url, texts }: { jobId: string; url: string | null; texts: readonly string[] },
): Promise<void> {
  if (texts.length === 0) return;
  await db.execute(sql`
    insert into crawl_notices (job_id, url, text)
    select ${jobId}, ${url}::text, t from unnest(${sql.param(texts)}::text[]) as t
    where exists (select 1 from crawls where job_id = ${jobId} and phase = 'crawling')
      and (select count(*) from crawl_notices where job_id = ${jobId}) < ${MAX_NOTICES}`);
}

/** A job's distinct notices, ordered by URL. */
async function listNotices(db: Executor, jobId: string): Promise<CrawlNotice[]> {
  const { rows } = await db.execute<CrawlNotice>(sql`
    select distinct url, text from crawl_notices where job_id = ${jobId} order by url nulls first, text`);
  return rows;
}
