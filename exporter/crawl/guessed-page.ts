import { ROBOTS_AGENT } from '../discover/discover.ts';
import { type Robots, readRobots } from '../discover/robots.ts';
import type { ExportSettings } from '../settings.ts';
import { rankOf } from './resource-rank.ts';
import { skipReason } from './skip-rules.ts';
import type { Visited } from './visited.ts';

const known = new WeakMap<ExportSettings, Robots>();

/** The crawl's robots.txt, parsed once; without rules if the project ignores it. */
function robotsOf(settings: ExportSettings): Robots {
  const read = known.get(settings) ?? readRobots(settings.robots === 'ignore' ? '' : settings.robotsTxt, ROBOTS_AGENT);
  known.set(settings, read);
  return read;
}

/**
 * Files that scripts load are fetched whatever robots.txt says. If a URL guessed from a script turns out to be a page
 * that robots.txt forbids, it counts as missing.
 */
export function withoutForbiddenPage(visited: Visited, settings: ExportSettings): Visited {
  const { leased, result } = visited;
  if (leased.rank !== rankOf('probe') || result.outcome !== 'file' || !result.isPage) return visited;
  const { pathname, search } = new URL(leased.url);
  if (robotsOf(settings).isAllowed(`${pathname}${search}`)) return visited;
  return {
    leased,
    result: { id: leased.id, outcome: 'missing', reason: skipReason('robots'), status: result.status },
    resources: [],
  };
}

const OTHER_EXTENSION = /\.(?!html?$|xhtml$|php$)[a-z0-9]{1,5}$/i;

/** True if a URL guessed from a script only returned the page that the origin sends for every missing resource. */
export function isWrongGuess(row: { url: string; rank: number; contentType: string | null }): boolean {
  if (row.rank !== rankOf('probe') || !/^\s*text\/html/i.test(row.contentType ?? '')) return false;
  return OTHER_EXTENSION.test(new URL(row.url).pathname);
}
