import { plainLine } from './plain-line.ts';

const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/**
 * "21 November 2026 at 11:30 UTC", with the zone because readers are in many; the original text if it can't be parsed.
 */
export function dayAndTime(timestamp: string): string {
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? plainLine(timestamp, 60) || 'an unknown time' : `${FORMAT.format(ms)} UTC`;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** "2 days" or "5 hours", rounded down; null for less than an hour or an unreadable time. */
export function timeBetween(timestamp: string, now: Date): string | null {
  const passedMs = now.getTime() - Date.parse(timestamp);
  if (passedMs >= 2 * DAY_MS) return `${Math.floor(passedMs / DAY_MS)} days`;
  if (passedMs >= 2 * HOUR_MS) return `${Math.floor(passedMs / HOUR_MS)} hours`;
  return passedMs >= HOUR_MS ? 'an hour' : null;
}
