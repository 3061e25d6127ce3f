import { ROBOTS_AGENT } from '../discover/discover.ts';
import { readRobots } from '../discover/robots.ts';
import type { ExportLimits } from '../limits.ts';
import type { ExportSettings } from '../settings.ts';

/** How a crawl is shared among workers: the number of activities, and how long each one takes on new work. */
export type CrawlPlan = Pick<ExportLimits, 'soloCrawlMs' | 'activityMs' | 'parallelActivities'>;

/** An activity waits one delay before its first request, which must be a small part of its time. */
const REQUESTS_A_ROUND = 20;

/** The minimum delay between requests to the site's origin; 0 if robots.txt sets none or the project ignores it. */
export function crawlDelayMs({ robots, robotsTxt }: Pick<ExportSettings, 'robots' | 'robotsTxt'>): number {
  return robots === 'ignore' ? 0 : readRobots(robotsTxt, ROBOTS_AGENT).crawlDelayMs;
}

/**
 * The plan of a crawl. If the origin wants a delay between requests, only one activity crawls at a time, so workers
 * need no coordination to keep it.
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
