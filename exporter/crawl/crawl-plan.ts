import { ROBOTS_AGENT } from '../discover/discover.ts';
import { readRobots } from '../discover/robots.ts';
import type { ExportLimits } from '../limits.ts';
import type { ExportSettings } from '../settings.ts';

/** How a crawl is shared among workers: activities at a time, and how long each takes on new work. */
export type CrawlPlan = Pick<ExportLimits, 'soloCrawlMs' | 'activityMs' | 'parallelActivities'>;

/** An activity waits one delay before its first request: that must be a small part of its time. */
const REQUESTS_A_ROUND = 20;

/** How far apart requests to the site's origin must begin; 0 where nobody asked for that, or the project ignores it. */
export function crawlDelayMs({ robots, robotsTxt }: Pick<ExportSettings, 'robots' | 'robotsTxt'>): number {
  return robots === 'ignore' ? 0 : readRobots(robotsTxt, ROBOTS_AGENT).crawlDelayMs;
}

/**
 * The plan of a crawl. Where the origin wants a delay between requests, one activity at a time crawls, on whichever
 * worker: so the delay holds across all of them, with nothing to agree upon.
 */
export function crawlPlan(
  { soloCrawlMs, activityMs, parallelActivities }: CrawlPlan,
  settings: Pick<ExportSettings, 'robots' | 'robotsTxt'>,
): CrawlPlan {
  const delayMs = crawlDelayMs(settings);
  if (delayMs === 0) return { soloCrawlMs, activityMs, parallelActivities };
  const roundMs = Math.max(activityMs, REQUESTS_A_ROUND * delayMs);
  return { soloCrawlMs: roundMs, activityMs: roundMs, parallelActivities: 1 };
}
