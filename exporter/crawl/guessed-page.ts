import { ROBOTS_AGENT } from '../discover/discover.ts';
import { type Robots, readRobots } from '../discover/robots.ts';
import type { ExportSettings } from '../settings.ts';
import { rankOf } from './resource-rank.ts';
import { skipReason } from './skip-rules.ts';
import type { Visited } from './visited.ts';

const known = new WeakMap<ExportSettings, Robots>();

/** The rules of the crawl's robots.txt, read once; none where the project ignores them. */
function robotsOf(settings: ExportSettings): Robots {
  const read = known.get(settings) ?? readRobots(settings.robots === 'ignore' ? '' : settings.robotsTxt, ROBOTS_AGENT);
  known.set(settings, read);
  return read;
}

/**
 * What scripts load is fetched whatever robots.txt says. An address guessed from a script's text may turn out to be a
 * page, though: then the rules for pages hold, and it is taken for one that isn't there.
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
