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

const MIB = 1024 * 1024;

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
