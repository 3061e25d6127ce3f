import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core';

/** What an export's owner should know of a page beyond whether it is there, for the report. Kept as long as the crawl. */
export const crawlNotices = pgTable(
  'crawl_notices',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    jobId: text('job_id').notNull(),
    /** Null where it is about the export as a whole. */
    url: text('url'),
    text: text('text').notNull(),
  },
  (table) => [index('crawl_notices_of_job').on(table.jobId, table.id)],
);
