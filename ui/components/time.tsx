import { formatDuration, formatRelative, formatUtc } from '../format.ts';
import { None } from './none.tsx';

type TimeProps = { at: Date | string | null | undefined; now?: Date; none?: string };

/** A date or its RFC 3339 text; undefined if it is none. */
function dateOf(at: TimeProps['at']): Date | undefined {
  const date = at instanceof Date ? at : new Date(at ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** `5 min ago`, with the moment itself on hover. `none` is shown without a time. */
export function RelativeTime({ at, now = new Date(), none = '–' }: TimeProps) {
  const date = dateOf(at);
  if (date === undefined) return <None>{none}</None>;
  return (
    <time dateTime={date.toISOString()} title={formatUtc(date)}>
      {formatRelative(date, now)}
    </time>
  );
}

/** `2026-11-21 10:04:09 UTC`; a script shows the reader's time, with this on hover. */
export function Time({ at, none = '–' }: TimeProps) {
  const date = dateOf(at);
  if (date === undefined) return <None>{none}</None>;
  const utc = formatUtc(date);
  return (
    <time dateTime={date.toISOString()} data-utc={utc}>
      {utc}
    </time>
  );
}

/** For the end of a page: which zone its times have. */
export function TimeZone() {
  return (
    <>
      Times are in <span data-zone>UTC</span>.
    </>
  );
}

/** `3 min 5 s` between two times; `none` if one is missing. */
export function Duration({ from, to, none = '–' }: { from: TimeProps['at']; to: TimeProps['at']; none?: string }) {
  const [start, end] = [dateOf(from), dateOf(to)];
  if (start === undefined || end === undefined) return <None>{none}</None>;
  return <span class="number">{formatDuration(end.getTime() - start.getTime())}</span>;
}
