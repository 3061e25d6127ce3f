import type { FoundUrl, ScopeCounts } from '../crawl-records.ts';
import type { ExportLimits } from '../limits.ts';
import type { ExportSettings } from '../settings.ts';
import type { Resource, ResourceKind, Site } from '../urls/identity.ts';
import { isOfSite, isWanted } from '../urls/identity.ts';
import { type CrawledKind, rankOf, SKIPPED_RANK } from '../urls/resource-rank.ts';
import { type Robots, robotsOf } from '../urls/robots.ts';
import {
  hasTooManyFolders,
  leadsFarOff,
  MAX_FOLDERS,
  MAX_YEARS_AHEAD,
  repeatsItself,
  skipReason,
} from '../urls/skip-rules.ts';

/** The page that has the reference; the start page has depth 0. */
type From = { url: string; depth: number };

export type CrawlScope = {
  /** What to report to the frontier for a reference on this page; undefined if that is nothing new. */
  admit(resource: Resource, from: From): FoundUrl | undefined;
  /** Sets the frontier's own count, which includes URLs found by other workers. */
  setUrlCount(urlCount: number): void;
};

/** PostgreSQL's index rows hold less than 2,700 bytes. */
const MAX_URL_LENGTH = 2_000;
/** URLs that this worker remembers having reported; past this the frontier filters duplicates itself. */
const MAX_REMEMBERED = 200_000;
/** Skipped URLs that the frontier stores for one rule, because an endless site has any number of them. */
const MAX_NAMED_SKIPS = 10_000;

function crawledKind(kind: ResourceKind, sourceMaps: ExportSettings['sourceMaps']): CrawledKind | undefined {
  if (kind === 'endpoint' || kind === 'folder') return undefined;
  if (kind === 'unfollowed') return 'page';
  if (kind !== 'source-map') return kind;
  return sourceMaps === 'keep' ? 'asset' : undefined;
}

function reasonOfEndlessPath(pathname: string, fromUrl: string, year: number): string | null {
  if (hasTooManyFolders(pathname)) return skipReason('folders', MAX_FOLDERS);
  if (repeatsItself(pathname)) return skipReason('repeats');
  return leadsFarOff(pathname, fromUrl, year) ? skipReason('dates', MAX_YEARS_AHEAD) : null;
}

/** What is admitted or skipped is added to the counts. */
type Options = ScopeCounts & {
  settings: ExportSettings;
  limits: ExportLimits;
  urlCount: number;
};

/** The options, what is derived from them once, and what this worker has reported. */
type State = Options & {
  robots: Robots;
  year: number;
  pages: ReadonlySet<string> | undefined;
  reportedRanks: Map<string, number>;
};

/**
 * Decides which references the crawl follows: the site's pages, within robots.txt, the requested paths and the limits
 * against endless sites; and the assets that pages need, from any host, unless the project keeps them as links.
 */
export function createCrawlScope(options: Options): CrawlScope {
  const { settings } = options;
  const state: State = {
    ...options,
    robots: robotsOf(settings),
    year: new Date(settings.createdAt).getUTCFullYear(),
    pages: settings.pages === null ? undefined : new Set(settings.pages),
    reportedRanks: new Map(),
  };
  return {
    admit: (resource, from) => admit(state, resource, from),
    setUrlCount(count) {
      state.urlCount = count;
    },
  };
}

function admit(state: State, resource: Resource, from: From): FoundUrl | undefined {
  const { settings, reportedRanks } = state;
  const { url } = resource;
  const kind = crawledKind(resource.kind, settings.sourceMaps);
  if (kind === undefined) return undefined;
  const before = reportedRanks.get(url);
  if (before !== undefined && before >= rankOf(kind)) return undefined;
  if (!isWanted({ url, kind }, settings.site, settings)) return undefined;
  const isNew = before === undefined;
  if (kind === 'guess' && !isSensible(state, url, from)) return undefined;
  const isFresh = isNew || before === SKIPPED_RANK;
  const isUnfollowed = resource.kind === 'unfollowed' && settings.robots !== 'ignore';
  const skip = isUnfollowed ? skipReason('nofollow') : reasonToSkip(state, { url, kind }, from);
  if (skip !== null && (!isNew || !mayName(state, skip))) return undefined;
  const rank = skip === null ? rankOf(kind) : SKIPPED_RANK;
  if (kind === 'guess' && skip === null) state.guessCount += 1;
  if (reportedRanks.size < MAX_REMEMBERED) reportedRanks.set(url, rank);
  if (isFresh && skip === null) state.urlCount += 1;
  const found = {
    url: url.slice(0, MAX_URL_LENGTH),
    rank,
    depth: from.depth + 1,
    foundOn: from.url,
    skip,
    take: false,
  };
  return resource.charset === undefined ? found : { ...found, charset: resource.charset };
}

function reasonToSkip(state: State, { url, kind }: { url: string; kind: CrawledKind }, from: From): string | null {
  const { limits, pages, robots } = state;
  if (url.length > MAX_URL_LENGTH) return skipReason('length', MAX_URL_LENGTH);
  if (state.urlCount >= limits.maxUrls) return skipReason('addresses', limits.maxUrls);
  if (kind === 'guess') return state.guessCount < limits.maxGuesses ? null : skipReason('guesses', limits.maxGuesses);
  if (!isPageLike(kind, url, state.settings.site)) return null;
  const { pathname, search, origin } = new URL(url);
  if (pages !== undefined && kind !== 'probe' && !pages.has(url)) return skipReason('paths');
  // A guessed URL is judged when its response has arrived (`withoutForbiddenPage`).
  if (kind !== 'probe' && !robots.isAllowed(`${pathname}${search}`)) return skipReason('robots');
  if (from.depth >= limits.maxDepth) return skipReason('depth', limits.maxDepth);
  const endless = reasonOfEndlessPath(pathname, from.url, state.year);
  if (endless !== null || search === '') return endless;
  return reasonOfQuery(state, `${origin}${pathname}`, search);
}

/** A guess that a rule for pages forbids isn't requested, and isn't worth an entry in the report. */
function isSensible({ robots, limits, year }: State, url: string, from: From): boolean {
  const { pathname, search } = new URL(url);
  if (url.length > MAX_URL_LENGTH || from.depth >= limits.maxDepth) return false;
  return robots.isAllowed(`${pathname}${search}`) && reasonOfEndlessPath(pathname, from.url, year) === null;
}

function isPageLike(kind: CrawledKind, url: string, site: Site): boolean {
  return kind === 'page' || kind === 'identity' || (kind === 'probe' && isOfSite(url, site));
}

/** Counts a query string of a path, unless the path has too many. */
function reasonOfQuery({ variants, limits }: State, path: string, search: string): string | null {
  const known = variants.get(path) ?? new Set();
  if (known.has(search)) return null;
  if (known.size >= limits.maxQueryVariants) return skipReason('queries', limits.maxQueryVariants);
  variants.set(path, known.add(search));
  return null;
}

/** Counts a skipped URL. Returns whether the frontier may store it. */
function mayName({ skips }: State, reason: string): boolean {
  const count = skips.get(reason) ?? 0;
  skips.set(reason, count + 1);
  return count < MAX_NAMED_SKIPS;
}
