import type { Site } from '../document/types.ts';
import { ExportFailure } from '../export-failure.ts';
import type { FetchFailure } from '../fetch/failure.ts';
import type { Fetcher } from '../ports.ts';
import { type Pause, retryUntilResponse } from './retry-until-response.ts';
import { MAX_ROBOTS_CHARACTERS } from './robots.ts';

/** The maximum number of attempts for files that are only hints. */
export const MAX_HINT_TRIES = 3;

/**
 * Whether rules may exist that the origin can't serve now (RFC 9309, 2.3.1.4). A 429 counts too: it is a 4xx, but a
 * temporary one.
 */
function isUnreachable({ status }: FetchFailure): boolean {
  return status === null || status >= 500 || status === 429;
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
        `${url} can't be read (${failure.reason}, after ${count}), so what may be exported isn't known; ` +
          "robots: ignore in the project's settings exports without it",
      );
    }
  }
}
