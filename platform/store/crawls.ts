import { eq } from 'drizzle-orm';
import type { Database, Executor } from './database.ts';
import { findBase, lockCrawlsOf } from './kept-crawls.ts';
import { crawls } from './schema/crawls.ts';

export type CrawlRow = typeof crawls.$inferSelect;

export type NewCrawl = {
  jobId: string;
  settingsJson: string;
  projectId: string;
  reuseKey: string;
  /** Whether to reuse the crawl that the project keeps, if that has the same key. */
  takes: boolean;
  /** Whether to keep this crawl when its export has completed. */
  keep: boolean;
};

/** Opens a job's crawl; idempotent. Returns the current row. */
export async function openCrawl(db: Database, crawl: NewCrawl): Promise<CrawlRow> {
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
export async function getCrawl(db: Executor, jobId: string): Promise<CrawlRow | undefined> {
  const [row] = await db.select().from(crawls).where(eq(crawls.jobId, jobId));
  return row;
}
