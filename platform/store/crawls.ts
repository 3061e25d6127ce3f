import { eq, sql } from 'drizzle-orm';
import type { Database, Executor } from './database.ts';
import { crawls } from './schema/crawls.ts';

export type CrawlRow = typeof crawls.$inferSelect;

/** Begins a job's crawl; a second call changes nothing. Returns the crawl as it is. */
export async function openCrawl(db: Executor, jobId: string, settingsJson: string): Promise<CrawlRow> {
  await db.insert(crawls).values({ jobId, settingsJson }).onConflictDoNothing();
  const row = await getCrawl(db, jobId);
  if (row === undefined) throw new Error(`The crawl of ${jobId} is gone`);
  return row;
}

/** The job's crawl; undefined before it was opened and after it was deleted. */
export async function getCrawl(db: Executor, jobId: string): Promise<CrawlRow | undefined> {
  const [row] = await db.select().from(crawls).where(eq(crawls.jobId, jobId));
  return row;
}

/** Forgets everything an export worked on. The crawl goes first, so that nothing is added behind the deletion's back. */
export async function deleteCrawl(db: Database, jobId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`delete from crawls where job_id = ${jobId}`);
    await tx.execute(sql`delete from crawl_batches where job_id = ${jobId}`);
    await tx.execute(sql`delete from crawl_urls where job_id = ${jobId}`);
  });
}
