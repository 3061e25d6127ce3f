export const MAX_FOLDERS = 40;
/** A path that says the same thing this often grew from a relative link that leads into itself. */
const MAX_SEGMENT_REPEATS = 5;
/** A calendar always has a next month. Nobody publishes further ahead than this. */
export const MAX_YEARS_AHEAD = 5;
/** It has one before as well. Archives go back a long way, but hardly month by month to before there were sites. */
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

/** Whether a path names a month past one of the bounds of calendars, seen from `year`. */
export function liesFarOff(pathname: string, year: number): boolean {
  const own = yearOf(pathname) ?? year;
  return own > year + MAX_YEARS_AHEAD || own < year - MAX_YEARS_BACK;
}

/** As `liesFarOff`, for an address. Hardly any names a month, and to take it apart costs ten times the look at its text. */
export function addressLiesFarOff(url: string, year: number): boolean {
  return YEAR_AND_MONTH.test(url) && liesFarOff(pathOf(url), year);
}

/**
 * Whether the page at the address `from` is a calendar's and leads on past its bounds: both addresses are the same but
 * for their numbers, and the one it leads to names a month more than `MAX_YEARS_AHEAD` years after `year`, or is the step
 * over `MAX_YEARS_BACK` years before it. Numbers that are no years are often as small as that, so only the step counts,
 * which every calendar takes.
 */
export function leadsFarOff(pathname: string, from: string, year: number): boolean {
  if (!liesFarOff(pathname, year)) return false;
  const fromPath = pathOf(from);
  if (shapeOf(pathname) !== shapeOf(fromPath)) return false;
  const [before = year, after = year] = [yearOf(fromPath), yearOf(pathname)];
  return after > year || (before >= year - MAX_YEARS_BACK && before - after <= 1);
}
