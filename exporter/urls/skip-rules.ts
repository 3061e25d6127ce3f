export const MAX_FOLDERS = 40;
/** A path that repeats a segment this often comes from a relative link that leads into itself. */
const MAX_SEGMENT_REPEATS = 5;
/** A calendar always links to the next month, but sites rarely publish further ahead than this. */
export const MAX_YEARS_AHEAD = 5;
/** A calendar also links to the previous month; archives rarely go back further by month. */
const MAX_YEARS_BACK = 40;

const YEAR_AND_MONTH = /(?<!\d)(\d{4})[-/](?:0?[1-9]|1[0-2])(?!\d)/;

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : '';
}

export function hasTooManyFolders(pathname: string): boolean {
  return pathname.split('/').length > MAX_FOLDERS;
}

export function repeatsItself(pathname: string): boolean {
  const segments = pathname.split('/');
  if (segments.length <= MAX_SEGMENT_REPEATS) return false;
  const counts = new Map<string, number>();
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  counts.delete('');
  return Math.max(0, ...counts.values()) > MAX_SEGMENT_REPEATS;
}

function shapeOf(path: string): string {
  return path.replace(/\d+/g, '#');
}

/** The year of a path that names a month, such as `/events/2031/11` or `/2031-11-05`. */
function yearOf(pathname: string): number | undefined {
  const written = YEAR_AND_MONTH.exec(pathname)?.[1];
  return written === undefined ? undefined : Number(written);
}

/** Whether a path names a month outside the calendar limits, counted from `year`. */
function isFarOff(pathname: string, year: number): boolean {
  const own = yearOf(pathname) ?? year;
  return own > year + MAX_YEARS_AHEAD || own < year - MAX_YEARS_BACK;
}

/** `isFarOff` for a URL. Few URLs name a month, and parsing costs ten times as much as a look at the text. */
export function isUrlFarOff(url: string, year: number): boolean {
  return YEAR_AND_MONTH.test(url) && isFarOff(pathOf(url), year);
}

/**
 * Whether a calendar page leads past the calendar limits. Both URLs must differ only in their numbers, and the target
 * must be more than `MAX_YEARS_AHEAD` years ahead, or the first one more than `MAX_YEARS_BACK` years back. Any other old
 * year may be just a small number.
 */
export function leadsFarOff(pathname: string, from: string, year: number): boolean {
  if (!isFarOff(pathname, year)) return false;
  const fromPath = pathOf(from);
  if (shapeOf(pathname) !== shapeOf(fromPath)) return false;
  const [before = year, after = year] = [yearOf(fromPath), yearOf(pathname)];
  return after > year || (before >= year - MAX_YEARS_BACK && before - after <= 1);
}

/**
 * The rules for leaving URLs out, each with its text in the frontier and the report; `#` is replaced by the limit. Their
 * conditions are above and in crawl-scope.ts (`reasonToSkip`). docs/reference/crawl-rules.md explains them.
 */
const WORDS = {
  robots: 'robots.txt disallows it',
  nofollow: 'only links with nofollow lead to it',
  paths: 'not among the requested paths',
  depth: 'more than # links away from the start page',
  folders: 'its path has more than # folders',
  repeats: 'its path repeats itself',
  dates: `its date is more than # years ahead, or ${MAX_YEARS_BACK} back`,
  queries: 'its path has more than # query strings',
  addresses: 'the export already has # URLs',
  guesses: 'the export has already tried # values that may be URLs',
  length: 'the URL is longer than # characters',
} as const;

type SkipRule = keyof typeof WORDS;

/** The text that says why a URL is skipped. */
export function skipReason(rule: SkipRule, bound?: number): string {
  return WORDS[rule].replace('#', String(bound));
}

export const SKIP_RULES = Object.keys(WORDS).filter((rule): rule is SkipRule => rule in WORDS);

/** The rule of a `skipReason` text; `other` for a text of another release. */
export function ruleOfReason(reason: string): string {
  return SKIP_RULES.find((rule) => isTextOf(rule, reason)) ?? 'other';
}

function isTextOf(rule: SkipRule, reason: string): boolean {
  const [before, after] = WORDS[rule].split('#');
  if (before === undefined || after === undefined) return reason === before;
  if (!reason.startsWith(before) || !reason.endsWith(after)) return false;
  return /^\d+$/.test(reason.slice(before.length, reason.length - after.length));
}
