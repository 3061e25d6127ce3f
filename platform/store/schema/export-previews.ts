import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { exportJobs } from './export-jobs.ts';
import { moment } from './moment.ts';

/** Unguessable links under which an export is served for a while. */
export const exportPreviews = pgTable(
  'export_previews',
  {
    tokenSha256: text('token_sha256').primaryKey(),
    jobId: text('job_id')
      .notNull()
      .references(() => exportJobs.id, { onDelete: 'cascade' }),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [index('export_previews_by_expiry').on(table.expiresAt), index('export_previews_of_job').on(table.jobId)],
);
