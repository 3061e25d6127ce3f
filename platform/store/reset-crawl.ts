import { eq, sql } from 'drizzle-orm';
import { lockCrawl } from './crawl-batches.ts';
import { addNotices } from './crawl-report.ts';
import type { Database } from './database.ts';
import { deleteCrawlRows, forbidReuse } from './kept-crawls.ts';
import { crawls } from './schema/crawls.ts';

const NOTICE = 'what the last export had stored of the site was gone or damaged, so all of it was fetched again';

/**
 * Resets a job's crawl to its beginning, with the same settings but without reuse. The crawl that it reused is no
 * longer kept. False if it reused none.
 */
export async function resetCrawl(db: Database, jobId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const crawl = await lockCrawl(tx, jobId);
    if (crawl === undefined) return false;
    // An earlier call has reset it, and its response was lost.
    if (crawl.baseJobId === null) return crawl.phase === 'crawling';
    await forbidReuse(tx, crawl.baseJobId);
    await deleteCrawlRows(tx, sql`array[${jobId}]::text[]`);
    const frontier = { urlCount: 0, settledCount: 0, rawBytes: 0, skippedCount: 0, batchCount: 0, pageCount: 0 };
    const spent = { fileCount: 0, decodedBytes: 0, storedBytes: 0 };
    await tx
      .update(crawls)
      .set({ ...frontier, ...spent, phase: 'crawling', baseJobId: null, archiveHeadBytes: null, revalidated: false })
      .where(eq(crawls.jobId, jobId));
    await addNotices(tx, { jobId, url: null, texts: [NOTICE] });
    return true;
  });
}
