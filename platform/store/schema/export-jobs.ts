import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  check,
  doublePrecision,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';
import { organizations, projects } from './organizations.ts';

/** Static export jobs as the API reads them. The workflow of the same id updates a row. */
export const exportJobs = pgTable(
  'export_jobs',
  {
    id: text('id').primaryKey(),
    /** Order of creation, and the list's cursor. */
    sequence: bigserial('sequence', { mode: 'number' }).notNull().unique(),
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id),
    domain: text('domain').notNull(),
    version: text('version').notNull(),
    /** The requested pages; null: the whole site. JSON as text, because jsonb rejects some valid strings. */
    pathsJson: text('paths_json'),
    /** Where it will be mounted below its domain; null: as the project says. */
    basePath: text('base_path'),
    status: text('status', { enum: ['queued', 'running', 'completed', 'failed'] })
      .notNull()
      .default('queued'),
    progress: doublePrecision('progress').notNull().default(0),
    pageCount: integer('page_count').notNull().default(0),
    error: text('error'),
    archiveKey: text('archive_key'),
    archiveSha256: text('archive_sha256'),
    /** Null in jobs that were exported before it was recorded. */
    manifestSha256: text('manifest_sha256'),
    archiveSizeBytes: bigint('archive_size_bytes', { mode: 'number' }),
    contentSha256: text('content_sha256'),
    reportKey: text('report_key'),
    /** When a link to the archive was last given out. */
    linkRequestedAt: moment('link_requested_at'),
    /** When `EXPORT_KEEP` gave up the archive and the report, which have no keys since then. */
    expiredAt: moment('expired_at'),
    cancelRequestedAt: moment('cancel_requested_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    startedAt: moment('started_at'),
    /** When all pages had been read. Null in jobs of earlier releases. */
    crawledAt: moment('crawled_at'),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    check('export_jobs_status_known', sql`${table.status} in ('queued', 'running', 'completed', 'failed')`),
    // Enforces the conflict check if two starts race past it.
    uniqueIndex('export_jobs_one_active_per_project')
      .on(table.projectId)
      .where(sql`${table.status} in ('queued', 'running')`),
    index('export_jobs_newest_first').on(table.organizationId, table.sequence),
    index('export_jobs_of_project').on(table.projectId, table.sequence),
  ],
);

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
