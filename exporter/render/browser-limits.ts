/** Bounds of what a browser may take for one page, and of what it is used for. Sizes in bytes, times in milliseconds. */
export type BrowserLimits = {
  /** Pages drawn at a time by one process of ours. */
  pagesAtOnce: number;
  /** A browser that has drawn this many pages makes room for a new one. */
  pagesPerBrowser: number;
  /** The memory of all the browser's processes, past which it makes room for a new one. */
  browserBytes: number;
  /** The memory of a page's own process, past which it is ended. */
  tabBytes: number;
  /** How often memory is looked at. */
  memoryCheckMs: number;
  /** Until the page and what it names have loaded. What hasn't by then is left out. */
  loadTimeoutMs: number;
  /** A page is quiet that has asked for nothing for this long. */
  quietMs: number;
  /** How long a loaded page is waited for to become quiet. */
  quietTimeoutMs: number;
  /** The whole of one page: past it nothing of what the browser shows is used. */
  pageTimeoutMs: number;
  /** Tries of a page whose tab ended. */
  maxTries: number;
  /** What is kept at hand of the answers that pages were given, for other pages and for the crawl. */
  rememberedBytes: number;
  /** A browser without work is closed after this time. */
  idleMs: number;
  /** Sample pages of one site that are visited. */
  maxSamples: number;
  /** The time for trying out one of them. */
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
