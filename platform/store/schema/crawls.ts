import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, pgTable, primaryKey, smallint, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { exportJobs } from './export-jobs.ts';
import { moment } from './moment.ts';

/**
 * An export's working data. Rows live from the job's start to its end; those of a project's last completed export stay
 * until a newer one, which reuses them, completes. The API doesn't read them. The frontier and the batches have no
 * foreign key, because it would be checked thousands of times a second: instead every insert checks that the crawl
 * still exists, and `forgetCrawls` deletes from all tables.
 */
export const crawls = pgTable('crawls', {
  jobId: text('job_id')
    .primaryKey()
    .references(() => exportJobs.id, { onDelete: 'cascade' }),
  /** The export's settings as JSON, so that changing the project never mixes two settings in one bundle. */
  settingsJson: text('settings_json').notNull(),
  phase: text('phase', { enum: ['crawling', 'frozen'] })
    .notNull()
    .default('crawling'),
  urlCount: integer('url_count').notNull().default(0),
  settledCount: integer('settled_count').notNull().default(0),
  rawBytes: bigint('raw_bytes', { mode: 'number' }).notNull().default(0),
  /** URLs whose response is a file of the bundle. */
  fileCount: integer('file_count').notNull().default(0),
  /** The size of all responses without their content encoding, including those that weren't kept. */
  decodedBytes: bigint('decoded_bytes', { mode: 'number' }).notNull().default(0),
  /** What this export has stored in the object store: responses, extracted links, and the pieces of its archive. */
  storedBytes: bigint('stored_bytes', { mode: 'number' }).notNull().default(0),
  /** All URLs skipped because of a limit; the frontier only keeps some by name. */
  skippedCount: integer('skipped_count').notNull().default(0),
  batchCount: integer('batch_count').notNull().default(0),
  pageCount: integer('page_count').notNull().default(0),
  /**
   * What stored bytes depend on besides the origin: settings and engine version. Only crawls with equal keys are
   * reused.
   */
  reuseKey: text('reuse_key'),
  /** Whether to keep the crawl for the next export when its export has completed. */
  keep: boolean('keep').notNull().default(false),
  /** The kept crawl that this one reuses; it isn't deleted before this one. */
  baseJobId: text('base_job_id'),
  /** The offset of the first batch in the packed archive. */
  archiveHeadBytes: integer('archive_head_bytes'),
  /** Whether a worker has begun to revalidate the kept crawl; only one does. */
  revalidated: boolean('walked').notNull().default(false),
});

/**
 * The frontier: all URLs of an export and their results. Workers lease `queued` rows; only the holder of `lease_token`
 * may settle one. Once frozen, `path` is the URL's path in the bundle.
 */
export const crawlUrls = pgTable(
  'crawl_urls',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    jobId: text('job_id').notNull(),
    /** Normalized, absolute, without a fragment. */
    url: text('url').notNull(),
    /** The strongest use found so far, as a rank (`resource-rank.ts`). */
    rank: smallint('rank').notNull(),
    depth: integer('depth').notNull(),
    foundOn: text('found_on'),
    /** The charset of a text that declares none, if the document that it was found on gives it one. */
    charset: text('charset'),
    state: text('state', { enum: ['queued', 'leased', 'settled'] }).notNull(),
    /** Failed attempts. One that was lost with its worker doesn't count. */
    attempts: smallint('attempts').notNull().default(0),
    /** The URL isn't leased before this time, if the origin asked for a pause. */
    dueAt: moment('due_at'),
    leaseToken: text('lease_token'),
    leaseUntil: moment('lease_until'),
    outcome: text('outcome', { enum: ['file', 'redirect', 'missing', 'skipped'] }),
    status: smallint('status'),
    reason: text('reason'),
    redirectTo: text('redirect_to'),
    contentType: text('content_type'),
    isPage: boolean('is_page').notNull().default(false),
    /** Where the bytes are: an object, and for small files their offset in it, followed by the extracted links. */
    objectKey: text('object_key'),
    byteOffset: bigint('byte_offset', { mode: 'number' }),
    byteLength: bigint('byte_length', { mode: 'number' }),
    extractionLength: integer('extraction_length'),
    sha256: text('sha256'),
    /** The response's validators (RFC 9110, 8.8), for the next export's conditional request. */
    etag: text('etag'),
    lastModified: text('last_modified'),
    /** The position, in the same object, of the link table of the file's group. */
    linksOffset: bigint('links_offset', { mode: 'number' }),
    linksLength: integer('links_length'),
    /** Claimed when the file arrives, final once frozen; for a redirect the target's path. */
    path: text('path'),
    fragment: text('fragment'),
    /** Set on the one row that puts the file into the bundle. */
    batch: integer('batch'),
  },
  (table) => [
    uniqueIndex('crawl_urls_once').on(table.jobId, table.url),
    index('crawl_urls_queued').on(table.jobId, table.depth, table.id).where(sql`${table.state} = 'queued'`),
    index('crawl_urls_leased').on(table.jobId, table.leaseToken).where(sql`${table.state} = 'leased'`),
    index('crawl_urls_of_batch').on(table.jobId, table.batch).where(sql`${table.batch} is not null`),
  ],
);

/** Consecutive files of the bundle, rewritten and compressed as one piece of the archive. */
export const crawlBatches = pgTable(
  'crawl_batches',
  {
    jobId: text('job_id').notNull(),
    number: integer('number').notNull(),
    state: text('state', { enum: ['queued', 'leased', 'settled'] }).notNull(),
    leaseToken: text('lease_token'),
    leaseUntil: moment('lease_until'),
    objectKey: text('object_key'),
    sizeBytes: bigint('size_bytes', { mode: 'number' }),
    pageCount: integer('page_count').notNull().default(0),
    /** `BundleFile[]` in the bundle's order. */
    filesJson: text('files_json'),
    /** The broken links of the batch's files: `{url: [referrers]}`. */
    brokenJson: text('broken_json'),
    /** `StoredPiece[]`: the batch's gzip members, in order. */
    piecesJson: text('pieces_json'),
    /** `Extent[]`: the positions of the members, in order; null: they are the whole object. */
    partsJson: text('parts_json'),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.number] })],
);

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
