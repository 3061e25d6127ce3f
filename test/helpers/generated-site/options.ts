export type GeneratedSiteOptions = {
  /** Pages of the site, the start page included; the shared assets come on top. */
  pages: number;
  /** Decides every byte; 1 unless told. */
  seed?: number;
  /** Every answer waits this long; 0 unless told. */
  delayMs?: number;
  /** About how many bytes of text a page has beside its navigation; 3,000 unless told. */
  pageBytes?: number;
  /** What answers say for conditional requests; 'none' unless told. */
  validators?: 'none' | 'etag' | 'last-modified' | 'both';
  /** This share of the pages, the same ones for one seed, shows `edition`; all others show 0. */
  changedShare?: number;
  edition?: number;
  /** Port on 127.0.0.1; a free one unless told. */
  port?: number;
};

/** What can be changed while the site is served. */
export type GeneratedSiteChange = Pick<GeneratedSiteOptions, 'delayMs' | 'changedShare' | 'edition'>;

/** Requests since the start, or since the counts were last reset. */
export type RequestCounts = {
  requests: number;
  /** Different addresses asked for, those that don't exist included. */
  urls: number;
  /** Answers "not modified". */
  notModified: number;
  /** Requests beyond the first of an address, over all addresses. */
  repeated: number;
  /** Addresses asked for more than once with their requests; at most 1,000. */
  repeatedUrls: Record<string, number>;
};

/** Where the site's process takes orders; no page leads there. GET: counts. POST: a change as JSON. DELETE: reset. */
export const CONTROL_PATH = '/-/generated-site';
