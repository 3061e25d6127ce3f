import type { FoundUrl } from '../../../store/frontier.ts';
import { ROBOTS_AGENT } from '../discovery/discover.ts';
import { type Robots, readRobots } from '../discovery/robots.ts';
import type { ExportLimits } from '../limits.ts';
import type { Resource, ResourceKind } from '../page/types.ts';
import { isOfSite, isWanted } from '../page/url-identity.ts';
import { type CrawledKind, rankOf, SKIPPED_RANK } from '../resource-rank.ts';
import type { ExportSettings } from '../settings.ts';

export type Admission = {
  /** What to tell the frontier of a reference found at this depth; undefined where there is nothing new to tell. */
  admit(resource: Resource, from: { url: string; depth: number }): FoundUrl | undefined;
  /** The frontier's own count, which other workers' finds are part of. */
  setUrlCount(urlCount: number): void;
};

/** PostgreSQL's index rows hold less than 2,700 bytes. */
const MAX_URL_LENGTH = 2_000;
const MAX_PATH_SEGMENTS = 40;
/** A path that says the same thing this often grew from a relative link that leads into itself. */
const MAX_SEGMENT_REPEATS = 5;
/** What this worker has already told; past it the frontier itself sorts out the known ones. */
const MAX_REMEMBERED = 200_000;

function growsIntoItself(pathname: string): boolean {
  const segments = pathname.split('/');
  if (segments.length > MAX_PATH_SEGMENTS) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  counts.delete('');
  return Math.max(0, ...counts.values()) > MAX_SEGMENT_REPEATS;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/**
 * Decides which references the crawl follows: the site's pages within robots.txt, the paths asked for and the bounds
 * against endless sites; and the assets that pages need, wherever they are, unless the project keeps them as links.
 */
export function createAdmission(options: {
  settings: ExportSettings;
  limits: ExportLimits;
  urlCount: number;
  /** Query strings known of each page path. */
  variants: Map<string, number>;
}): Admission {
  const { settings, limits, variants } = options;
  const { site } = settings;
  const robots: Robots = readRobots(settings.robotsTxt, ROBOTS_AGENT);
  const pages = settings.pages === null ? undefined : new Set(settings.pages);
  const keepHosts = new Set(settings.keepHosts);
  const told = new Map<string, number>();
  let { urlCount } = options;

  function crawledKind(kind: ResourceKind): CrawledKind | undefined {
    if (kind === 'endpoint' || kind === 'folder') return undefined;
    if (kind !== 'source-map') return kind;
    return settings.sourceMaps === 'keep' ? 'asset' : undefined;
  }

  function isPageLike(kind: CrawledKind, url: string): boolean {
    return kind === 'page' || kind === 'identity' || (kind === 'probe' && isOfSite(url, site));
  }

  function reasonToSkip(url: string, kind: CrawledKind, depth: number, isNew: boolean): string | null {
    if (url.length > MAX_URL_LENGTH) return `the address is longer than ${MAX_URL_LENGTH} characters`;
    if (urlCount >= limits.maxUrls) return `the export holds its most addresses, ${limits.maxUrls}`;
    if (!isPageLike(kind, url)) return null;
    const { pathname, search, origin } = new URL(url);
    if (pages !== undefined && kind !== 'probe' && !pages.has(url)) return 'not among the paths asked for';
    if (!robots.isAllowed(`${pathname}${search}`)) return 'robots.txt disallows it';
    if (depth > limits.maxDepth) return `more than ${limits.maxDepth} links away from the start page`;
    if (growsIntoItself(pathname)) return 'its path repeats itself';
    if (search === '') return null;
    const path = `${origin}${pathname}`;
    const known = variants.get(path) ?? 0;
    if (known >= limits.maxQueryVariants) return `its path has more than ${limits.maxQueryVariants} query strings`;
    if (isNew) variants.set(path, known + 1);
    return null;
  }

  return {
    admit(resource, from) {
      const { url } = resource;
      const kind = crawledKind(resource.kind);
      if (kind === undefined) return undefined;
      if ((told.get(url) ?? -1) >= rankOf(kind)) return undefined;
      const external = keepHosts.size > 0 && keepHosts.has(hostOf(url)) ? 'keep' : settings.external;
      if (!isWanted({ url, kind }, site, external)) return undefined;
      const depth = from.depth + 1;
      const isNew = !told.has(url);
      const skip = reasonToSkip(url, kind, depth, isNew);
      if (told.size < MAX_REMEMBERED) told.set(url, rankOf(kind));
      if (isNew && skip === null) urlCount += 1;
      const rank = skip === null ? rankOf(kind) : SKIPPED_RANK;
      return { url: url.slice(0, MAX_URL_LENGTH), rank, depth, foundOn: from.url, skip, take: false };
    },
    setUrlCount(count) {
      urlCount = count;
    },
  };
}
