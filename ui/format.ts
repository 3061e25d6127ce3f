const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `850 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`, `3 days 4 h`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return pair(ms, [MINUTE_MS, 'min'], [SECOND_MS, 's']);
  if (ms < DAY_MS) return pair(ms, [HOUR_MS, 'h'], [MINUTE_MS, 'min']);
  return pair(ms, [DAY_MS, ms < 2 * DAY_MS ? 'day' : 'days'], [HOUR_MS, 'h']);
}

function pair(ms: number, [large, largeName]: [number, string], [small, smallName]: [number, string]): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** `just now`, `5 min ago`, `in 3 h`, `2 days ago`. */
export function formatRelative(at: Date, now: Date): string {
  const differenceMs = at.getTime() - now.getTime();
  const ms = Math.abs(differenceMs);
  if (ms < 5 * SECOND_MS) return differenceMs > 0 ? 'in a moment' : 'just now';
  const text = largestUnit(ms);
  return differenceMs > 0 ? `in ${text}` : `${text} ago`;
}

function largestUnit(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  const days = Math.floor(ms / DAY_MS);
  return days === 1 ? '1 day' : `${days} days`;
}

/** `2026-11-21 10:04:09 UTC`: without a script, the reader's time zone is unknown. */
export function formatUtc(at: Date): string {
  const iso = at.toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `12 B`, `3.4 MB`. */
export function formatBytes(sizeBytes: number): string {
  let size = Math.max(0, sizeBytes);
  let unit = 0;
  while (size >= 999.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** `1 page`, `1,204 pages`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
