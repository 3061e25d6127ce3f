import { ExportFailure } from '../export-failure.ts';
import type { ExportLimits } from '../limits.ts';
import type { Fetcher, FetchFailure } from '../ports.ts';
import type { Site } from '../urls/identity.ts';
import { shownUrl } from '../urls/identity.ts';
import { crawlDelayMs, MAX_ROBOTS_CHARACTERS, type RobotsSettings } from '../urls/robots.ts';
import { type Pause, retryUntilResponse } from './retry-until-response.ts';

/** The maximum number of attempts for files that are only hints. */
export const MAX_HINT_TRIES = 3;

/**
 * Whether rules may exist that the origin can't serve now (RFC 9309, 2.3.1.4). A 429 counts too: it is a 4xx, but a
 * temporary one. So does a body that can't be read.
 */
function isUnreachable({ status }: FetchFailure): boolean {
  return status === null || status < 300 || status >= 500 || status === 429;
}

/**
 * The text of a site's robots.txt, empty if there is none. Fails permanently if the project respects the rules and the
 * origin can't serve them, because they may forbid the export. If the project ignores them, the file only lists
 * sitemaps.
 */
export async function readRules(
  fetcher: Fetcher,
  site: Site,
  options: { robots: 'respect' | 'ignore'; maxAttempts: number; signal: AbortSignal; pause?: Pause },
): Promise<string> {
  const { robots, ...asking } = options;
  const asked = await retryUntilResponse(fetcher, site, {
    ...asking,
    url: `https://${site.domain}/robots.txt`,
    // The rules apply even if they are redirected to another site.
    leavesSite: true,
    ...(robots === 'ignore' && { maxTries: MAX_HINT_TRIES }),
  });
  switch (asked.kind) {
    case 'response':
      return asked.response.body.toString('utf8').slice(0, MAX_ROBOTS_CHARACTERS);
    case 'nowhere':
      return '';
    case 'failed': {
      const { failure, url, tries } = asked;
      if (robots === 'ignore' || !isUnreachable(failure)) return '';
      const count = tries === 1 ? 'one try' : `${tries} tries`;
      throw new ExportFailure(
        'ExportImpossible',
        `${shownUrl(url, site)} can't be read (${failure.reason}, after ${count}), so what may be exported isn't known; ` +
          (failure.status === null ? 'if another server has the site, set the origin of its project; ' : '') +
          "robots: ignore in the project's settings exports without it",
      );
    }
  }
}

/** How a crawl is shared among workers: the number of activities, and how long each one takes on new work. */
export type CrawlPlan = Pick<ExportLimits, 'soloCrawlMs' | 'activityMs' | 'parallelActivities'>;

/** An activity waits one delay before its first request, which must be a small part of its time. */
const REQUESTS_A_ROUND = 20;

/**
 * The plan of a crawl. If the origin wants a delay between requests, only one activity crawls at a time, so workers
 * need no coordination to keep it.
 */
export function crawlPlan(
  { soloCrawlMs, activityMs, parallelActivities }: CrawlPlan,
  settings: RobotsSettings,
): CrawlPlan {
  const delayMs = crawlDelayMs(settings);
  if (delayMs === 0) return { soloCrawlMs, activityMs, parallelActivities };
  const roundMs = Math.max(activityMs, REQUESTS_A_ROUND * delayMs);
  return { soloCrawlMs: roundMs, activityMs: roundMs, parallelActivities: 1 };
}
