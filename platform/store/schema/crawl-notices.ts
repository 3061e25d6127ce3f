import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core';

/** Notices about a page for the report, beyond whether it is there. Kept as long as the crawl. */
export const crawlNotices = pgTable(
  'crawl_notices',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    jobId: text('job_id').notNull(),
    /** Null if it is about the whole export. */
    url: text('url'),
    text: text('text').notNull(),
  },
  (table) => [index('crawl_notices_of_job').on(table.jobId, table.id)],
);
