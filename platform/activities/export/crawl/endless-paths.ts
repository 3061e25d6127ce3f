export const MAX_FOLDERS = 40;
/** A path that says the same thing this often grew from a relative link that leads into itself. */
const MAX_SEGMENT_REPEATS = 5;
/** A calendar always has a next month. Nobody publishes further ahead than this. */
export const MAX_YEARS_AHEAD = 5;

const YEAR_AND_MONTH = /(?<!\d)(\d{4})[-/](?:0?[1-9]|1[0-2])(?!\d)/;

export function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : '';
}

export function hasTooManyFolders(pathname: string): boolean {
  return pathname.split('/').length > MAX_FOLDERS;
}

export function repeatsItself(pathname: string): boolean {
  const counts = new Map<string, number>();
  for (const segment of pathname.split('/')) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  counts.delete('');
  return Math.max(0, ...counts.values()) > MAX_SEGMENT_REPEATS;
}

function shapeOf(path: string): string {
  return path.replace(/\d+/g, '#');
}

/** Whether a path names a month more than `MAX_YEARS_AHEAD` years after `year`. */
export function liesFarAhead(pathname: string, year: number): boolean {
  return Number(YEAR_AND_MONTH.exec(pathname)?.[1] ?? 0) > year + MAX_YEARS_AHEAD;
}

/**
 * Whether a page of a calendar leads on to one years from now: both addresses are the same but for their numbers, and
 * the one it leads to names a month (`/events/2031/11`, `/2031-11-05`) more than `MAX_YEARS_AHEAD` years after `year`.
 */
export function leadsFarAhead(pathname: string, from: string, year: number): boolean {
  return liesFarAhead(pathname, year) && shapeOf(pathname) === shapeOf(from);
}
