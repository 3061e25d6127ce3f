import type { SpentCounts } from './crawl-records.ts';
import { ExportFailure } from './export-failure.ts';

/** Limits of one export and of what one process spends on it. Sizes in bytes, times in milliseconds. */
export type ExportLimits = {
  /** URLs of one export, pages and assets. */
  maxUrls: number;
  /** Links followed from the start page to a URL. */
  maxDepth: number;
  /** URLs to try because a value may be one (`guess`). */
  maxGuesses: number;
  /** Query strings followed per page path. */
  maxQueryVariants: number;
  /** The largest file kept in memory; a larger one is streamed, and its references aren't extracted. */
  maxBufferedBytes: number;
  maxFileBytes: number;
  /** What one export may spend in all, over all workers; one that spends more fails (`checkBudget`). */
  maxFiles: number;
  maxDecodedBytes: number;
  maxStoredBytes: number;
  /** How long the head of a response may take. */
  requestTimeoutMs: number;
  /** The longest pause in a body; one that keeps arriving may take any time. */
  idleTimeoutMs: number;
  /** Concurrent requests to one origin: the limiter's initial and highest number. */
  initialConcurrency: number;
  maxConcurrency: number;
  /** The maximum number of attempts for a URL that keeps failing softly. */
  maxAttempts: number;
  /** If a single crawl activity takes this long, the site is large enough to share it among workers. */
  soloCrawlMs: number;
  /** How long one worker may revalidate the previous export; if it dies, all of that is lost. */
  revalidateMs: number;
  /** Activities of one export that crawl, or rewrite, at the same time. */
  parallelActivities: number;
  /** The longest a crawl or rewrite activity takes on new work. */
  activityMs: number;
  /** How long a lease lasts unless it is renewed. */
  leaseMs: number;
  /** The approximate size of a piece of the archive, before compression: smaller pieces, a larger archive, smaller updates. */
  pieceBytes: number;
  /** The limits of a batch, the pieces that a worker makes at a time. */
  batchFiles: number;
  batchBytes: number;
  /** Fetched bytes that a process caches for rewriting. */
  cacheBytes: number;
  /** zlib's level for the archive: 6 makes it 3 % smaller than 5, for a fifth more time on other threads. */
  gzipLevel: number;
  /** `host:port` pairs of the operator's own network that assets may come from, besides each project's origin. */
  privateHosts: readonly string[];
};

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: ExportLimits = {
  maxUrls: 200_000,
  maxDepth: 1_000,
  maxGuesses: 20_000,
  maxQueryVariants: 200,
  maxBufferedBytes: 16 * MIB,
  maxFileBytes: 2048 * MIB,
  maxFiles: 200_000,
  maxDecodedBytes: 50 * 1024 * MIB,
  maxStoredBytes: 100 * 1024 * MIB,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 20_000,
  initialConcurrency: 8,
  maxConcurrency: 48,
  maxAttempts: 5,
  soloCrawlMs: 2_000,
  revalidateMs: 8_000,
  parallelActivities: 8,
  activityMs: 50_000,
  leaseMs: 60_000,
  pieceBytes: 29 * 1024,
  batchFiles: 256,
  batchBytes: 4 * MIB,
  cacheBytes: 32 * MIB,
  gzipLevel: 6,
  privateHosts: [],
};

type BudgetLimits = Pick<ExportLimits, 'maxFiles' | 'maxDecodedBytes' | 'maxStoredBytes'>;

/**
 * Throws a non-retryable failure if an export has spent more than it may; the message is for the job's owner. The
 * counts cover all workers, so any of them may check.
 */
export function checkBudget(spent: SpentCounts, limits: BudgetLimits): void {
  if (spent.fileCount > limits.maxFiles) {
    throw exceeded('The site has more files than one export may hold', 'EXPORT_MAX_FILES', String(limits.maxFiles));
  }
  if (spent.decodedBytes > limits.maxDecodedBytes) {
    const text = "The site's responses are larger, uncompressed, than one export may read";
    throw exceeded(text, 'EXPORT_MAX_DECODED_BYTES', sizeText(limits.maxDecodedBytes));
  }
  if (spent.storedBytes > limits.maxStoredBytes) {
    throw exceeded('The export stores more than one export may', 'EXPORT_MAX_BYTES', sizeText(limits.maxStoredBytes));
  }
}

/** What an export may still spend. */
export type Budget = {
  /** Throws if this many more bytes would exceed the export's budget. */
  foresee(bytes: number): void;
  /** Keeps what the export has spent. Throws if that is too much. */
  onSpent(spent: SpentCounts): void;
};

/** The budget of an export that has spent this. Throws if that is too much. */
export function createBudget(begun: SpentCounts, limits: ExportLimits): Budget {
  let spent = begun;
  checkBudget(spent, limits);
  return {
    foresee(bytes) {
      const { fileCount, decodedBytes, storedBytes } = spent;
      checkBudget({ fileCount, decodedBytes: decodedBytes + bytes, storedBytes: storedBytes + bytes }, limits);
    },
    onSpent(counts) {
      spent = counts;
      checkBudget(spent, limits);
    },
  };
}

function exceeded(text: string, variable: string, value: string): ExportFailure {
  const message = `${text} (${variable}=${value}). Leave out what is large, or set a higher ${variable} for the platform's workers.`;
  return new ExportFailure('ExportImpossible', message);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A size as the environment variables write it, in the largest unit that divides it. */
function sizeText(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount > 0 && amount % 1024 === 0 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${amount}${UNITS[unit]}`;
}

/** Limits for a browser and for each page it renders. Sizes in bytes, times in milliseconds. */
export type BrowserLimits = {
  /** Pages rendered at a time in this process. */
  pagesAtOnce: number;
  /** A browser is replaced after this many pages. */
  pagesPerBrowser: number;
  /** Memory of all browser processes; above it the browser is replaced. */
  browserBytes: number;
  /** Memory of a tab's process; above it the process is killed. */
  tabBytes: number;
  /** The interval of memory checks. */
  memoryCheckMs: number;
  /** Time for the page and its files to load. Files that are still loading then are left out. */
  loadTimeoutMs: number;
  /** A page is idle if it made no request for this long. */
  quietMs: number;
  /** Time for a loaded page to become idle. */
  quietTimeoutMs: number;
  /** Time for the whole page. If it runs out, the result is discarded. */
  pageTimeoutMs: number;
  /** Attempts for a page whose tab ended. */
  maxTries: number;
  /** Size of the cache of responses, shared with other pages and the crawl. */
  rememberedBytes: number;
  /** A browser without work is closed after this time. */
  idleMs: number;
  /** Sample pages to visit per site. */
  maxSamples: number;
  /** Time to interact with one of them. */
  sampleMs: number;
};

export const DEFAULT_BROWSER_LIMITS: BrowserLimits = {
  pagesAtOnce: 4,
  pagesPerBrowser: 250,
  browserBytes: 2048 * MIB,
  tabBytes: 1024 * MIB,
  memoryCheckMs: 250,
  loadTimeoutMs: 20_000,
  quietMs: 500,
  quietTimeoutMs: 8_000,
  pageTimeoutMs: 45_000,
  maxTries: 2,
  rememberedBytes: 32 * MIB,
  idleMs: 20_000,
  maxSamples: 8,
  sampleMs: 40_000,
};
