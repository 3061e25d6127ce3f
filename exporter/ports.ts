import type { Readable } from 'node:stream';
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import type { Proof } from '../contract/proof.ts';
import type {
  BatchFileRow,
  BatchProgress,
  Crawl,
  CrawlFindings,
  FindingsSelect,
  FinishedCrawl,
  FoundUrl,
  FreezePlan,
  FrontierCounts,
  FrontierRest,
  KeptBatch,
  Lease,
  LeasedUrl,
  MadeBatch,
  MappedUrl,
  NewCrawl,
  PackedArchive,
  PreviousFile,
  ScopeCounts,
  SettledBatch,
  SettledUrl,
  SpentCounts,
  StoredResponse,
  UnchangedUrl,
} from './crawl-records.ts';
import type { BrowserLimits } from './limits.ts';
import type { Site } from './urls/identity.ts';

/** A part of an object, in bytes: both ends inclusive, as in HTTP; without `end` to the object's last byte. */
export type ByteRange = { start: number; end?: number };

export type ObjectInfo = { sizeBytes: number; modifiedAt: Date };

/** Where an export keeps bytes: what it fetches, the pieces of its archive, the archive and the report. */
export type ExportObjects = {
  /**
   * Stores an object whole or not at all; the last `put` to end wins. Give `sizeBytes` for a stream if it is known.
   * Throws when the source fails.
   */
  put(
    key: string,
    source: Uint8Array | Readable,
    options: { contentType: string; sizeBytes?: number },
  ): Promise<{ sizeBytes: number }>;
  /** Streams an object or a part of it. Throws `ObjectMissingError`. */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** Reads an object or a part of it into memory. Throws `ObjectMissingError`. */
  read(key: string, range?: ByteRange): Promise<Buffer>;
  /** Size and time of an object; null if there is none. */
  head(key: string): Promise<ObjectInfo | null>;
};

export type FetchOptions = {
  signal: AbortSignal;
  /** Error statuses whose response is a result with a body (the not-found page) and not a failure. */
  acceptStatus?: (status: number) => boolean;
  /** Takes the decoded body of a file larger than `maxBufferedBytes`; without it such a body is a failure. */
  sink?: (body: AsyncIterable<Buffer>, contentType: string) => Promise<void>;
  /** The largest decoded body of this response to keep in memory, instead of the fetcher's own limit. */
  maxBufferedBytes?: number;
  /** The validators of the body that the caller has: the request is conditional. */
  unlessMatching?: Validators | undefined;
  /** Called when the response's head has arrived; its body may take long. */
  onResponse?: () => void;
  /** Called with the number of bytes of the body that were read and decoded, once or piece by piece. */
  onDecoded?: (bytes: number) => void;
};

/** The validators of a response (RFC 9110, 8.8), for conditional requests; null if there are none. */
export type Validators = { etag: string | null; lastModified: string | null };

export type FetchedResponse = {
  kind: 'response';
  status: number;
  contentType: string;
  body: Buffer;
  validators?: Validators;
  /** `X-Robots-Tag` forbids following the page's links. */
  nofollow?: boolean;
  /** The headers that matter to a page, as elements of its head; omitted if there are none. */
  headElements?: string;
  /** `Content-Disposition`: a browser saves the body instead of showing it. */
  attachment?: true;
  /** A browser rendered the body from the origin's response. */
  rendered?: true;
};
/** A body too large to hold: the sink took it. */
type FetchedToSink = { kind: 'sunk'; status: number; contentType: string; validators?: Validators };
export type FetchedRedirect = { kind: 'redirect'; status: number; location: URL };
/** The caller's copy is current. The validators are those of this response, if it has any. */
type FetchedUnchanged = { kind: 'unchanged'; validators: Validators };
export type FetchResult = FetchedResponse | FetchedToSink | FetchedRedirect | FetchedUnchanged | FetchFailure;

/** A request without a usable response. `soft` failures may be temporary and are retried. */
export type FetchFailure = {
  kind: 'failed';
  reason: string;
  /** The HTTP status; null if there was no response. */
  status: number | null;
  soft: boolean;
  /** The pause that the origin asked for. */
  retryAfterMs: number | undefined;
  /** The response, or the rest of its body, timed out. */
  late?: true;
};

/** Requests URLs of the origin and of asset hosts. */
export type Fetcher = {
  /**
   * One GET of one URL. A redirect is a result and isn't followed: the caller and the guard decide about its target.
   * Throws the signal's reason only.
   */
  get(url: URL, options: FetchOptions): Promise<FetchResult>;
  /** Makes requests to an origin one at a time and so far apart, in milliseconds (Crawl-delay); 0 ends that. */
  space(origin: string, spacingMs: number): void;
  /** Closes all connections at once. */
  close(): Promise<void>;
};

/** Successful responses by export and URL: the most recently used, up to a number of bytes. */
export type ResponseCache = {
  get(key: string): FetchResult | undefined;
  set(key: string, response: FetchResult): void;
};

/** Why no browser is available, with what to do about it. */
export type BrowserTrouble = {
  text: string;
  /** Whether a retry is pointless until the setup changes. A lack of resources is temporary. */
  isLasting: boolean;
};

/** Runs work in a browser, which it starts when it is needed, replaces and ends. */
export type Renderer = {
  limits: BrowserLimits;
  /** Recent responses to pages. */
  responses: ResponseCache;
  /** Why there is no usable browser; undefined if there is one. */
  trouble(): Promise<BrowserTrouble | undefined>;
  /**
   * Runs work in a browser context of its own (no cookies, no storage), when one is free. Throws `BrowserGone` if the
   * browser ends meanwhile or doesn't start, the signal's reason if it fires before a context is free, and what `work`
   * throws: once `work` has begun, it handles the signal itself.
   */
  use<Result>(
    options: BrowserContextOptions,
    signal: AbortSignal,
    work: (context: BrowserContext) => Promise<Result>,
  ): Promise<Result>;
  /** Ends the browser; work in it fails. */
  close(): Promise<void>;
};

/** A bundle to compare with its origin. */
export type ProverTask = {
  /** The packed bundle, alone in a folder that takes what else is needed. The caller removes it. */
  archive: string;
  site: Site;
  operatorHosts: readonly string[];
  maxPages: number;
};

/** Compares a bundle with its origin in a browser. Throws the signal's reason, and an error with why it isn't possible. */
export type Prover = (
  task: ProverTask,
  options: { signal: AbortSignal; onProgress(progress: { doneCount: number; pageCount: number }): void },
) => Promise<{ proof: Proof; html: string }>;

/**
 * The state of exports: their frontiers of URLs, their batches of files, and what the next export may reuse. Workers
 * share it, so each call is atomic: all of it happens or none, also if a process dies. One implementation is for workers
 * in any number of processes (PostgreSQL), one for those of a single process (memory).
 * A call throws if the store can't be reached or the connection breaks; it may have happened nonetheless. Sizes are in
 * bytes, times in milliseconds. A lease ends `leaseMs` after it was given or renewed; what it held is then free again.
 */
export type CrawlStore = {
  /** Begins a job's crawl; a second call changes nothing. Returns the crawl as it is. */
  openCrawl(crawl: NewCrawl): Promise<Crawl>;
  /** The job's crawl; undefined before it was opened and after it was deleted. */
  getCrawl(jobId: string): Promise<Crawl | undefined>;
  /** Marks a crawl that no later export may reuse. */
  forbidReuse(jobId: string): Promise<void>;

  /**
   * Leases queued URLs: up to `limit` that are due, those nearest to the start page first, or those of `urls` that are
   * queued.
   */
  leaseUrls(lease: Lease & ({ limit: number } | { urls: readonly string[] })): Promise<LeasedUrl[]>;
  /** Extends a worker's leases: of batches, and of URLs once half of their time is over. */
  renewLeases(lease: Lease): Promise<void>;
  /** Releases what these workers hold. */
  releaseLeases(jobId: string, tokens: readonly string[]): Promise<void>;
  /** Releases all URLs whose lease has ended. */
  releaseEndedLeases(jobId: string): Promise<void>;
  /**
   * Settles URLs that the worker still holds, and adds the URLs that it found, sorted by URL; those that `take` asks for
   * are leased to it. A result whose lease was lost is ignored. Returns the counts and the leased URLs; undefined if the
   * crawl is over.
   */
  settleUrls(
    report: Lease & { settled: readonly SettledUrl[]; found: readonly FoundUrl[] },
  ): Promise<(FrontierCounts & SpentCounts & { taken: LeasedUrl[] }) | undefined>;
  /** What is left of the frontier. */
  frontierRest(jobId: string): Promise<FrontierRest>;
  /** Pages fetched so far, each place in the bundle counted once. */
  countPages(jobId: string): Promise<number>;
  /** What the limits of the crawl's scope count, as far as URLs were found. */
  scopeCounts(jobId: string): Promise<ScopeCounts>;
  /** Adds notices for the report while the crawl goes on; a repeated one appears once in it. */
  addNotices(notices: { jobId: string; url: string | null; texts: readonly string[] }): Promise<void>;
  /** What the crawl has of a URL; undefined if it isn't settled. */
  storedResponse(jobId: string, url: string): Promise<StoredResponse | undefined>;
  /** The first `limit` pages of the crawl, in the order they were found. */
  crawledPages(jobId: string, limit: number): Promise<string[]>;

  /**
   * Lets one worker revalidate the previous export: the first to ask gets up to `limit` queued URLs that were never
   * leased, those nearest to the start page first. The others get undefined.
   */
  claimRevalidation(jobId: string, limit: number): Promise<FoundUrl[] | undefined>;
  /**
   * Settles URLs, new or queued, with what the crawl of the previous export has of them. `over`: the crawl has ended;
   * `restarted`: it doesn't reuse `baseJobId` any more; then nothing was changed.
   */
  settleUnchanged(found: {
    jobId: string;
    baseJobId: string;
    unchanged: readonly UnchangedUrl[];
    /** Bytes of the responses that were read to find this out, decoded. */
    decodedBytes: number;
  }): Promise<'settled' | 'over' | 'restarted'>;
  /** The files that a crawl has: all of them, or those of these URLs. */
  fetchedFiles(jobId: string, urls?: readonly string[]): AsyncIterable<PreviousFile[]>;
  /** The archive of a completed export, and the pieces of its batches in the archive's order; undefined if there is none. */
  archiveOf(
    jobId: string,
  ): Promise<{ objectKey: string; sizeBytes: number; batches: AsyncIterable<KeptBatch> } | undefined>;
  /** The URLs that lead elsewhere in one frozen crawl than in another; undefined if there are more than `limit`. */
  changedUrls(crawls: { jobId: string; baseJobId: string; limit: number }): Promise<Set<string> | undefined>;

  /**
   * Ends the crawl as `decide` says, in one transaction: nothing changes between what it reads and what is written, and
   * if it throws nothing is. Does nothing if the crawl is frozen already.
   */
  freeze(jobId: string, decide: (crawl: FinishedCrawl) => Promise<FreezePlan>): Promise<void>;

  /** Leases up to `limit` free batches, lowest number first. */
  leaseBatches(lease: Lease & { limit: number }): Promise<number[]>;
  /** Keeps a batch's result. Returns what the export has spent by then; undefined if the lease was lost. */
  settleBatch(result: { jobId: string; token: string; batch: MadeBatch }): Promise<SpentCounts | undefined>;
  batchProgress(jobId: string): Promise<BatchProgress>;
  /** The files of one batch, in no meaningful order. */
  batchFiles(jobId: string, batch: number): Promise<BatchFileRow[]>;
  /** Says where URLs lead in the frozen crawl: all of them, or these. */
  mappedUrls(jobId: string, urls?: readonly string[]): AsyncIterable<MappedUrl[]>;
  /**
   * The paths of the frozen crawl's files that match, sorted. The pattern is a regular expression that JavaScript and
   * PostgreSQL read alike; case doesn't matter.
   */
  pathsMatching(jobId: string, pattern: string): Promise<string[]>;

  /** The settled batches in the archive's order: all of them, or the one with this number. */
  settledBatches(jobId: string, number?: number): AsyncIterable<SettledBatch>;
  /** The redirects of the frozen crawl. */
  mappedRedirects(jobId: string): AsyncIterable<Array<{ url: string; redirectTo: string; status: number }>>;
  /** What the report says of a crawl. */
  crawlFindings(select: FindingsSelect): Promise<CrawlFindings>;
  /**
   * Completes the export, unless its cancel was accepted before. `isReusable`: later exports may reuse the crawl.
   */
  completeExport(
    jobId: string,
    result: PackedArchive & { pageCount: number; contentSha256: string; reportKey: string },
  ): Promise<{ state: 'completed' | 'cancelled'; isReusable: boolean }>;
};
