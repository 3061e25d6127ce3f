import { eq } from 'drizzle-orm';
import type { Crawl, NewCrawl } from '../../exporter/crawl-records.ts';
import type { Database, Executor } from './database.ts';
import { findBase, lockCrawlsOf } from './kept-crawls.ts';
import { crawls } from './schema/crawls.ts';

/** Begins a job's crawl; a second call changes nothing. Returns the crawl as it is. */
export async function openCrawl(db: Database, crawl: NewCrawl): Promise<Crawl> {
  const { jobId, settingsJson, projectId, reuseKey, keep } = crawl;
  return db.transaction(async (tx) => {
    await lockCrawlsOf(tx, projectId);
    const baseJobId = crawl.takes ? await findBase(tx, projectId, reuseKey) : null;
    await tx.insert(crawls).values({ jobId, settingsJson, reuseKey, keep, baseJobId }).onConflictDoNothing();
    const row = await getCrawl(tx, jobId);
    if (row === undefined) throw new Error(`The crawl of ${jobId} is gone`);
    return row;
  });
}

/** The job's crawl; undefined before it was opened and after it was deleted. */
export async function getCrawl(db: Executor, jobId: string): Promise<Crawl | undefined> {
  const [row] = await db.select().from(crawls).where(eq(crawls.jobId, jobId));
  return row;
}
