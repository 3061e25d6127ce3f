import type { Resource } from './urls/identity.ts';

/** What a `CrawlStore` keeps of an export. Sizes in bytes. */

/** What the export has spent so far, all workers together. */
export type SpentCounts = { fileCount: number; decodedBytes: number; storedBytes: number };

/** The counts are only for progress: a skipped URL that is queued again isn't counted. */
export type FrontierCounts = { urlCount: number; settledCount: number };

/** URLs still queued, by anyone, and when the next of them is due; null if none is queued. `leased`: a worker holds URLs. */
export type FrontierRest = { queuedCount: number; leased: boolean; dueInMs: number | null };

/** The state of one export's crawl. */
export type Crawl = FrontierCounts &
  SpentCounts & {
    jobId: string;
    /** `ExportSettings` as JSON: what the export began with. */
    settingsJson: string;
    /** The frontier of a frozen crawl doesn't change any more. */
    phase: 'crawling' | 'frozen';
    /** Bytes of all files as they were fetched. */
    rawBytes: number;
    /** URLs left out because of a limit. */
    skippedCount: number;
    batchCount: number;
    pageCount: number;
    /** What stored bytes depend on besides the origin (`reuseKeyOf`). Only crawls with the same key share bytes. */
    reuseKey: string | null;
    /** Whether the next export may reuse this crawl when its export has completed. */
    keep: boolean;
    /** The crawl of the previous export that this one reuses. */
    baseJobId: string | null;
    /** Where the first batch begins in the packed archive; null until the crawl may be reused. */
    archiveHeadBytes: number | null;
    /** Whether a worker has begun to revalidate the previous export; that happens once per job. */
    revalidated: boolean;
  };

export type NewCrawl = Pick<Crawl, 'jobId' | 'settingsJson' | 'keep'> & {
  projectId: string;
  reuseKey: string;
  /** Whether it may reuse the project's previous export, if that has the same key. */
  takes: boolean;
};

/** Names the worker that holds URLs or batches, and for how long. */
export type Lease = { jobId: string; token: string; leaseMs: number };

/**
 * A URL that a worker holds: only it may settle the row, until the lease ends. `attempts`: this one and those that failed.
 * `charset`: of a text that declares none, if the document that it was found on gives it one.
 */
export type LeasedUrl = {
  id: number;
  url: string;
  rank: number;
  depth: number;
  attempts: number;
  charset: string | null;
};

/**
 * `variants`: the query strings known of each page path that has any, as `?a=1`, without those that were left out.
 * `skips`: how many URLs were left out by name, by reason. `guessCount`: the URLs that are only guesses.
 */
export type ScopeCounts = { variants: Map<string, Set<string>>; skips: Map<string, number>; guessCount: number };

/**
 * A URL that a worker reports for the first time. `skip`: left out, and why; give it `SKIPPED_RANK`, then a use that isn't
 * left out (a page that is also an image's source) brings it back.
 */
export type FoundUrl = {
  url: string;
  rank: number;
  depth: number;
  foundOn: string | null;
  skip: string | null;
  /** Lease it at once to the worker that found it. */
  take: boolean;
  /** As in `LeasedUrl`; the first one that is reported counts. */
  charset?: string | undefined;
};

/** A file as a crawl has stored it: what it is, and where its bytes and its extraction are. */
export type StoredFile = {
  contentType: string;
  isPage: boolean;
  objectKey: string;
  byteOffset: number;
  byteLength: number;
  /** The extraction follows the bytes; 0 if there is none. */
  extractionLength: number;
  sha256: string;
};

/** Where the table of links of the file's group is in the same object; null if it has none. */
export type LinksPlace = { linksOffset: number | null; linksLength: number | null };

/** The result of a leased URL. */
export type SettledUrl = {
  /** Bytes of the responses without their content encoding. */
  decodedBytes?: number;
} & (
  | { id: number; outcome: 'retry'; dueInMs: number; reason: string; status: number | null }
  | { id: number; outcome: 'missing'; reason: string; status: number | null }
  | { id: number; outcome: 'redirect'; status: number; redirectTo: string }
  | SettledFile
);

type SettledFile = StoredFile &
  Partial<LinksPlace> & {
    id: number;
    outcome: 'file';
    status: number;
    path: string;
    /** Why the document was not read; left out if it was. */
    reason?: string | undefined;
    etag?: string | null;
    lastModified?: string | null;
    /** What was put into the object store for it; left out if that was nothing. */
    storedBytes?: number;
  };

/** A file whose bytes aren't in a segment yet, with its references as stored text. */
export type UnplacedFile = Omit<SettledFile, 'objectKey' | 'byteOffset' | 'byteLength' | 'extractionLength'> & {
  bytes: Uint8Array;
  extraction: Uint8Array;
};

export type Visited = {
  leased: LeasedUrl;
  result: SettledUrl | UnplacedFile;
  /** The references in the response, for the frontier. */
  resources: readonly Resource[];
  /** An unchanged response doesn't mean an unchanged result: it depends on the page's modules, or reading it failed. */
  needsRereading?: boolean;
};

/** A URL whose file is the one that the previous export stored, with the validators to use from now on. */
export type UnchangedUrl = Pick<FoundUrl, 'url' | 'rank' | 'depth' | 'foundOn'> & {
  etag: string | null;
  lastModified: string | null;
};

/** A URL that brought a file, as a later export sees it. */
export type PreviousFile = StoredFile &
  LinksPlace & { url: string; status: number; etag: string | null; lastModified: string | null };

/** What a crawl has of one URL. Which fields are set depends on the outcome. */
export type StoredResponse = {
  outcome: 'file' | 'redirect' | 'missing' | 'skipped';
  status: number | null;
  redirectTo: string | null;
  contentType: string | null;
  objectKey: string | null;
  byteOffset: number;
  byteLength: number;
};

/** A URL as the freezing of paths sees it. Which fields are set depends on the outcome. */
export type SettledRow = {
  id: number;
  url: string;
  rank: number;
  outcome: StoredResponse['outcome'];
  status: number | null;
  reason: string | null;
  redirectTo: string | null;
  contentType: string | null;
  isPage: boolean;
  byteLength: number | null;
  sha256: string | null;
  /** The place in the bundle that the row came with from the previous export; null if it has none. */
  path: string | null;
  batch: number | null;
};

/** What freezing decided for a URL: its place in the bundle, or where a redirect ends. */
export type FrozenUrl = {
  id: number;
  outcome: SettledRow['outcome'];
  reason: string | null;
  redirectTo: string | null;
  path: string | null;
  fragment: string | null;
  batch: number | null;
};

/** A crawl as the decision to end it sees it. Nothing else changes it meanwhile. */
export type FinishedCrawl = SpentCounts & {
  queuedCount: number;
  /** Whether a worker holds URLs. */
  leased: boolean;
  /** Every settled URL, in no meaningful order. */
  rows: AsyncIterable<SettledRow[]>;
};

export type FreezePlan = {
  /** Decided one by one as they are read, so that no second object per URL is held. */
  frozen: Iterable<FrozenUrl>;
  batchCount: number;
  pageCount: number;
};

/** Where a URL leads once the paths are frozen. */
export type MappedUrl = Pick<FrozenUrl, 'outcome' | 'redirectTo' | 'path' | 'fragment'> & { url: string };

/** A file as rewriting needs it. */
export type BatchFileRow = StoredFile & LinksPlace & { url: string; path: string };

/** The result of a batch. */
export type SettledBatch = {
  number: number;
  /** Null if the bytes are in parts. */
  objectKey: string | null;
  sizeBytes: number;
  pageCount: number;
  filesJson: string;
  brokenJson: string;
  /** `StoredPiece[]`. */
  piecesJson: string;
  /** `Extent[]`: the positions of the batch's bytes, in order; null if they are the whole object. */
  partsJson: string | null;
};

/** A batch's result, and how many bytes were put into the object store for it. */
export type MadeBatch = SettledBatch & { storedBytes: number };

/** How many batches there are, are settled, and are leased to no worker. */
export type BatchProgress = { total: number; settled: number; free: number };

/** The pieces of a reusable batch and their size. */
export type KeptBatch = Pick<SettledBatch, 'number' | 'sizeBytes' | 'piecesJson'>;

/** A URL for the report. */
export type ReportedUrl = {
  url: string;
  rank: number;
  status: number | null;
  reason: string | null;
  redirectTo: string | null;
  foundOn: string | null;
};

/** URLs left out for one reason. */
export type Skips = { reason: string; count: number; examples: string[] };

export type CrawlNotice = { url: string | null; text: string };

/** What to read for the report. */
export type FindingsSelect = {
  jobId: string;
  /** The weakest use of a missing URL or a redirect that is listed. */
  minRank: number;
  /** The maximum number of URLs per list. */
  limit: number;
  /** The maximum number of examples per reason. */
  maxExamples: number;
  /** The keys of the objects that this crawl has stored begin with it. */
  ownPrefix: string;
};

/** URLs of one outcome in the order they were found, and how many there are in all. */
export type ReportedUrls = { rows: ReportedUrl[]; total: number };

export type CrawlFindings = {
  missing: ReportedUrls;
  redirects: ReportedUrls;
  skipped: ReportedUrls;
  /** Files that were not read. */
  unread: ReportedUrls;
  /** The most frequent reason first. */
  skips: Skips[];
  /** Each once, ordered by URL. */
  notices: CrawlNotice[];
  /** How many files are where an earlier export stored them. */
  reusedCount: number;
};

export type PackedArchive = {
  archiveKey: string;
  archiveSha256: string;
  manifestSha256: string;
  archiveSizeBytes: number;
  /** Where the first member after the manifest's begins. */
  headBytes: number;
};

/** Stored as a notice about the sitemap; the report says it as `sitemapMade`. */
export const SITEMAP_MADE = 'made of all pages, because the origin has no sitemap';
