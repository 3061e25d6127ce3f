export const MAX_FOLDERS = 40;
/** A path that repeats a segment this often comes from a relative link that leads into itself. */
const MAX_SEGMENT_REPEATS = 5;
/** A calendar always links to the next month, but sites rarely publish further ahead than this. */
export const MAX_YEARS_AHEAD = 5;
/** A calendar also links to the previous month; archives rarely go back further by month. */
export const MAX_YEARS_BACK = 40;

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
export function liesFarOff(pathname: string, year: number): boolean {
  const own = yearOf(pathname) ?? year;
  return own > year + MAX_YEARS_AHEAD || own < year - MAX_YEARS_BACK;
}

/** `liesFarOff` for a URL. Few URLs name a month, and parsing costs ten times as much as a look at the text. */
export function urlLiesFarOff(url: string, year: number): boolean {
  return YEAR_AND_MONTH.test(url) && liesFarOff(pathOf(url), year);
}

/**
 * Whether a calendar page leads past the calendar limits. Both URLs must differ only in their numbers, and the target
 * must be more than `MAX_YEARS_AHEAD` years ahead, or the first one more than `MAX_YEARS_BACK` years back. Any other old
 * year may be just a small number.
 */
export function leadsFarOff(pathname: string, from: string, year: number): boolean {
  if (!liesFarOff(pathname, year)) return false;
  const fromPath = pathOf(from);
  if (shapeOf(pathname) !== shapeOf(fromPath)) return false;
  const [before = year, after = year] = [yearOf(fromPath), yearOf(pathname)];
  return after > year || (before >= year - MAX_YEARS_BACK && before - after <= 1);
}
