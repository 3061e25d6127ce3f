import { sql } from 'drizzle-orm';
import type { FrozenUrl, KeptBatch } from '../../exporter/crawl-records.ts';
import type { CrawlStore } from '../../exporter/ports.ts';
import { batchProgress, freezeCrawl, leaseBatches, lockCrawl, settleBatch, settledBatches } from './crawl-batches.ts';
import { addNotices, crawlFindings } from './crawl-report.ts';
import { getCrawl, openCrawl } from './crawls.ts';
import type { Database, Executor } from './database.ts';
import { completeExportJob } from './export-job-transitions.ts';
import { getExportJob } from './export-jobs.ts';
import { countPages, crawledPages, frontierRest, scopeCounts, settleUrls, storedResponse } from './frontier.ts';
import { leaseUrls, releaseEndedLeases, releaseLeases, renewLeases } from './frontier-leases.ts';
import { batchFiles, mappedRedirects, mappedUrls, settledRows, writeFrozen } from './frontier-map.ts';
import { fetchedFiles, forbidReuse } from './kept-crawls.ts';
import { pagesByNumber } from './pages-by-number.ts';
import { claimRevalidation, settleUnchanged } from './unchanged-urls.ts';

/** The state of exports in PostgreSQL: any number of workers share it. */
export function createCrawlStore(db: Database): CrawlStore {
  return {
    openCrawl: (crawl) => openCrawl(db, crawl),
    getCrawl: (jobId) => getCrawl(db, jobId),
    forbidReuse: (jobId) => forbidReuse(db, jobId),
    leaseUrls: (lease) => leaseUrls(db, lease),
    renewLeases: (lease) => renewLeases(db, lease),
    releaseLeases: (jobId, tokens) => releaseLeases(db, jobId, tokens),
    releaseEndedLeases: (jobId) => releaseEndedLeases(db, jobId),
    settleUrls: (report) => settleUrls(db, report),
    frontierRest: (jobId) => frontierRest(db, jobId),
    countPages: (jobId) => countPages(db, jobId),
    scopeCounts: (jobId) => scopeCounts(db, jobId),
    addNotices: (notices) => addNotices(db, notices),
    storedResponse: (jobId, url) => storedResponse(db, jobId, url),
    crawledPages: (jobId, limit) => crawledPages(db, jobId, limit),
    claimRevalidation: (jobId, limit) => claimRevalidation(db, jobId, limit),
    settleUnchanged: (found) => settleUnchanged(db, found),
    fetchedFiles: (jobId, urls) => fetchedFiles(db, jobId, urls),
    async archiveOf(jobId) {
      const job = await getExportJob(db, jobId);
      if (job === undefined || job.archiveKey === null || job.archiveSizeBytes === null) return undefined;
      return { objectKey: job.archiveKey, sizeBytes: job.archiveSizeBytes, batches: keptBatches(db, jobId) };
    },
    changedUrls: (crawls) => changedUrls(db, crawls),
    freeze: (jobId, decide) => freezeAsDecided(db, jobId, decide),
    leaseBatches: (lease) => leaseBatches(db, lease),
    settleBatch: (result) => settleBatch(db, result),
    batchProgress: (jobId) => batchProgress(db, jobId),
    batchFiles: (jobId, batch) => batchFiles(db, jobId, batch),
    mappedUrls: (jobId, urls) => mappedUrls(db, jobId, urls),
    pathsMatching: (jobId, pattern) => pathsMatching(db, jobId, pattern),
    settledBatches: (jobId, number) => settledBatches(db, jobId, number),
    mappedRedirects: (jobId) => mappedRedirects(db, jobId),
    crawlFindings: (select) => crawlFindings(db, select),
    async completeExport(jobId, { headBytes, ...result }) {
      const job = await completeExportJob(db, jobId, result);
      const { archiveKey } = result;
      // A worker that dies before this is called again, and completing the job a second time changes nothing.
      const isReusable = await keepArchiveHead(db, jobId, { archiveKey, headBytes });
      return { state: job?.status === 'completed' ? 'completed' : 'cancelled', isReusable };
    },
  };
}

/** Ends a crawl as `decide` says. The crawl's row is locked from the first read to the last write. */
async function freezeAsDecided(
  db: Database,
  jobId: string,
  decide: Parameters<CrawlStore['freeze']>[1],
): Promise<void> {
  await db.transaction(async (tx) => {
    if ((await lockCrawl(tx, jobId))?.phase !== 'crawling') return;
    const crawl = await getCrawl(tx, jobId);
    if (crawl === undefined) return;
    const { queuedCount, leased } = await frontierRest(tx, jobId);
    const plan = await decide({ ...crawl, queuedCount, leased, rows: settledRows(tx, jobId) });
    for (const piece of inPieces(plan.frozen)) await writeFrozen(tx, piece);
    await freezeCrawl(tx, jobId, plan);
  });
}

/** Decisions per statement, which bounds memory however large the site is. */
const WRITTEN_ROWS = 2_000;

function* inPieces(frozen: Iterable<FrozenUrl>): Generator<FrozenUrl[]> {
  let piece: FrozenUrl[] = [];
  for (const row of frozen) {
    piece.push(row);
    if (piece.length < WRITTEN_ROWS) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** The paths of a frozen crawl's files that match a regular expression, ignoring case. */
async function pathsMatching(db: Executor, jobId: string, pattern: string): Promise<string[]> {
  const { rows } = await db.execute<{ path: string }>(sql`
    select path from crawl_urls
    where job_id = ${jobId} and batch is not null and path ~* ${pattern} order by path collate "C"`);
  return rows.map(({ path }) => path);
}

const PAGE_ROWS = 100;

/** The pieces of a kept crawl's batches, in the archive's order. */
function keptBatches(db: Executor, jobId: string): AsyncGenerator<KeptBatch> {
  return pagesByNumber(PAGE_ROWS, async (after) => {
    const { rows } = await db.execute<KeptBatch>(sql`
      select number, size_bytes::float8 as "sizeBytes", pieces_json as "piecesJson" from crawl_batches
      where job_id = ${jobId} and number > ${after} order by number limit ${PAGE_ROWS}`);
    return rows;
  });
}

/**
 * The URLs whose targets differ between two frozen maps, or that only one of them has; undefined if there are more than
 * `limit`.
 */
async function changedUrls(
  db: Executor,
  { jobId, baseJobId, limit }: { jobId: string; baseJobId: string; limit: number },
): Promise<Set<string> | undefined> {
  const map = (id: string) => sql`
    select url, outcome = 'missing' as missing, path, fragment, redirect_to from crawl_urls
    where job_id = ${id} and outcome <> 'skipped'`;
  const { rows } = await db.execute<{ url: string }>(sql`
    select coalesce(now.url, before.url) as url from (${map(jobId)}) now
    full join (${map(baseJobId)}) before on now.url = before.url
    where now.url is null or before.url is null
      or (now.missing, now.path, now.fragment, now.redirect_to)
        is distinct from (before.missing, before.path, before.fragment, before.redirect_to)
    limit ${limit + 1}`);
  return rows.length > limit ? undefined : new Set(rows.map(({ url }) => url));
}

/**
 * Stores where the batches begin in a completed job's archive, so that later exports can reuse the crawl. False if they
 * must not, or if another archive completed the job.
 */
async function keepArchiveHead(
  db: Executor,
  jobId: string,
  { archiveKey, headBytes }: { archiveKey: string; headBytes: number },
): Promise<boolean> {
  const { rows } = await db.execute(sql`
    update crawls c set archive_head_bytes = ${headBytes}
    where c.job_id = ${jobId} and c.keep
      and exists (
        select 1 from export_jobs where id = c.job_id and status = 'completed' and archive_key = ${archiveKey})
    returning 1`);
  return rows.length > 0;
}
