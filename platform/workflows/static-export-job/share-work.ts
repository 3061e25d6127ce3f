/** Queued URLs per activity. */
const URLS_PER_ACTIVITY = 100;
/** Pieces of the archive per activity. */
const BATCHES_PER_ACTIVITY = 6;

/** How many activities crawl next: a few queued links only need a few workers. At least 1. */
export function crawlersFor(queuedCount: number, parallelActivities: number): number {
  return Math.max(1, Math.min(parallelActivities, Math.ceil(queuedCount / URLS_PER_ACTIVITY)));
}

/** How many activities rewrite. At least 1. */
export function rewritersFor(batchCount: number, parallelActivities: number): number {
  return Math.max(1, Math.min(parallelActivities, Math.ceil(batchCount / BATCHES_PER_ACTIVITY)));
}

/**
 * How long crawlers take new work in this round before it is shared again, in milliseconds: short at first, while the
 * size of the site shows, then twice as long each time.
 */
export function crawlRoundMs(round: number, { soloCrawlMs, activityMs }: { soloCrawlMs: number; activityMs: number }) {
  return Math.min(activityMs, soloCrawlMs * 2 ** Math.min(round - 1, 20));
}
