/** Addresses in line that are worth an activity of their own. */
const ADDRESSES_PER_ACTIVITY = 100;
/** Pieces of the archive that are worth one. */
const BATCHES_PER_ACTIVITY = 6;

/** How many activities shall crawl next: few links in line keep few workers busy. At least 1. */
export function crawlersFor(queuedCount: number, parallelActivities: number): number {
  return Math.max(1, Math.min(parallelActivities, Math.ceil(queuedCount / ADDRESSES_PER_ACTIVITY)));
}

/** How many activities shall rewrite. At least 1. */
export function rewritersFor(batchCount: number, parallelActivities: number): number {
  return Math.max(1, Math.min(parallelActivities, Math.ceil(batchCount / BATCHES_PER_ACTIVITY)));
}

/**
 * How long crawlers take on work in this round before the work is shared anew, in milliseconds: shortly at first, when
 * what the site is like shows by the second, then twice as long each time.
 */
export function crawlRoundMs(round: number, { soloCrawlMs, activityMs }: { soloCrawlMs: number; activityMs: number }) {
  return Math.min(activityMs, soloCrawlMs * 2 ** Math.min(round - 1, 20));
}
