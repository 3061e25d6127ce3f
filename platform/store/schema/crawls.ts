import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, pgTable, primaryKey, smallint, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { exportJobs } from './export-jobs.ts';
import { moment } from './moment.ts';

/**
 * What an export works on while it runs. The rows live from the job's start to its end, those of a project's last
 * completed export until a newer one completes, which takes over what hasn't changed; nothing here is read by the API.
 * The frontier and the batches have no foreign key: it would be checked row by row, thousands of times a second. Instead
 * every statement that adds rows asks whether the crawl is still there, and `forgetCrawls` deletes from all tables.
 */
export const crawls = pgTable('crawls', {
  jobId: text('job_id')
    .primaryKey()
    .references(() => exportJobs.id, { onDelete: 'cascade' }),
  /** The settings the export began with, as JSON: a change of the project never mixes two settings in one bundle. */
  settingsJson: text('settings_json').notNull(),
  phase: text('phase', { enum: ['crawling', 'frozen'] })
    .notNull()
    .default('crawling'),
  urlCount: integer('url_count').notNull().default(0),
  settledCount: integer('settled_count').notNull().default(0),
  rawBytes: bigint('raw_bytes', { mode: 'number' }).notNull().default(0),
  /** Addresses whose answer is a file of the bundle. */
  fileCount: integer('file_count').notNull().default(0),
  /** What answers were without their content encoding, also those that were then not kept. */
  decodedBytes: bigint('decoded_bytes', { mode: 'number' }).notNull().default(0),
  /** What this export has put into the object store: what it fetched and read, and the pieces of its archive. */
  storedBytes: bigint('stored_bytes', { mode: 'number' }).notNull().default(0),
  /** Addresses left out because of a limit, all of them; the frontier keeps only some by name. */
  skippedCount: integer('skipped_count').notNull().default(0),
  batchCount: integer('batch_count').notNull().default(0),
  pageCount: integer('page_count').notNull().default(0),
  /** What stored bytes depend on beside the origin: settings and engine. Only crawls equal in it share anything. */
  reuseKey: text('reuse_key'),
  /** Whether the crawl stays when its export has completed, for the next one to take from. */
  keep: boolean('keep').notNull().default(false),
  /** The kept crawl that this one takes from; it isn't forgotten before this one. */
  baseJobId: text('base_job_id'),
  /** Where the first batch begins in the packed archive. */
  archiveHeadBytes: integer('archive_head_bytes'),
  /** Whether a worker has begun to go through what the kept crawl knows; nobody does so a second time. */
  walked: boolean('walked').notNull().default(false),
});

/**
 * The frontier: every address an export knows, and what became of it. Workers lease `queued` rows; only the holder of
 * `lease_token` may settle one. Once frozen, `path` is where the address stands in the bundle.
 */
export const crawlUrls = pgTable(
  'crawl_urls',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    jobId: text('job_id').notNull(),
    /** Normalised, absolute, without a fragment. */
    url: text('url').notNull(),
    /** The strongest use found so far, as a rank (`resource-rank.ts`). */
    rank: smallint('rank').notNull(),
    depth: integer('depth').notNull(),
    foundOn: text('found_on'),
    state: text('state', { enum: ['queued', 'leased', 'settled'] }).notNull(),
    attempts: smallint('attempts').notNull().default(0),
    /** Not before this time, where the origin asked for patience. */
    dueAt: moment('due_at'),
    leaseToken: text('lease_token'),
    leaseUntil: moment('lease_until'),
    outcome: text('outcome', { enum: ['file', 'redirect', 'missing', 'skipped'] }),
    status: smallint('status'),
    reason: text('reason'),
    redirectTo: text('redirect_to'),
    contentType: text('content_type'),
    isPage: boolean('is_page').notNull().default(false),
    /** Where the bytes are: an object, and for small files their place in it, with the extraction right behind. */
    objectKey: text('object_key'),
    byteOffset: bigint('byte_offset', { mode: 'number' }),
    byteLength: bigint('byte_length', { mode: 'number' }),
    extractionLength: integer('extraction_length'),
    sha256: text('sha256'),
    /** The validators of the answer (RFC 9110, 8.8), for the next export's conditional request. */
    etag: text('etag'),
    lastModified: text('last_modified'),
    /** Where, in the same object, the table of links of the file's group lies. */
    linksOffset: bigint('links_offset', { mode: 'number' }),
    linksLength: integer('links_length'),
    /** Claimed when the file came, final once frozen; for a redirect the path it leads to. */
    path: text('path'),
    fragment: text('fragment'),
    /** Set on the one row that brings the file into the bundle. */
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
    /** What the batch's files refer to in vain: `{url: [referrers]}`. */
    brokenJson: text('broken_json'),
    /** `StoredPiece[]`: the gzip members that the batch is made of, in order. */
    piecesJson: text('pieces_json'),
    /** `Extent[]`: where the members lie, one after another; null: all of them are the object. */
    partsJson: text('parts_json'),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.number] })],
);
