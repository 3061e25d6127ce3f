export type GeneratedSiteOptions = {
  /** Number of pages, including the start page but not the shared assets. */
  pages: number;
  /** Determines every byte. Default: 1. */
  seed?: number;
  /** Delay of every response. Default: 0. */
  delayMs?: number;
  /** Approximate bytes of text per page, without its navigation. Default: 3,000. */
  pageBytes?: number;
  /** Validators of the responses. Default: `none`. */
  validators?: 'none' | 'etag' | 'last-modified' | 'both';
  /** The share of pages that show `edition`. The seed determines which. All others show 0. */
  changedShare?: number;
  edition?: number;
  /** Port on 127.0.0.1. Default: a free one. */
  port?: number;
};

/** The options that can change while the site is running. */
export type GeneratedSiteChange = Pick<GeneratedSiteOptions, 'delayMs' | 'changedShare' | 'edition'>;

/** Requests since the start or the last reset. */
export type RequestCounts = {
  requests: number;
  /** Distinct requested URLs, including those that don't exist. */
  urls: number;
  /** Responses with 304. */
  notModified: number;
  /** Requests beyond the first one of each URL. */
  repeated: number;
  /** URLs requested more than once, with the number of requests. At most 1,000. */
  repeatedUrls: Record<string, number>;
};

/** The control endpoint. GET returns the counts, POST applies a change as JSON, DELETE resets the counts. */
export const CONTROL_PATH = '/-/generated-site';
