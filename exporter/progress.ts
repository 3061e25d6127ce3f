/** The progress of a job, in percent, at which each stage begins. */
const CRAWL_FROM = 2;
const REWRITE_FROM = 70;
const PACK_FROM = 92;

/**
 * The total isn't known while crawling, so this is the share of the URLs found so far. A later find can't lower it,
 * because the row only accepts higher figures.
 */
export function crawlProgress({ urlCount, settledCount }: { urlCount: number; settledCount: number }): number {
  const share = urlCount === 0 ? 0 : Math.min(1, settledCount / urlCount);
  return CRAWL_FROM + share * (REWRITE_FROM - CRAWL_FROM);
}

export function rewriteProgress({ settled, total }: { settled: number; total: number }): number {
  return REWRITE_FROM + (total === 0 ? 1 : settled / total) * (PACK_FROM - REWRITE_FROM);
}

/** The archive is read twice, so `total` is twice its size. */
export function packProgress({ bytes, totalBytes }: { bytes: number; totalBytes: number }): number {
  return PACK_FROM + Math.min(1, totalBytes === 0 ? 1 : bytes / totalBytes) * (99 - PACK_FROM);
}
