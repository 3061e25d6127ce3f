import type { AdminApiResponse } from './http-client.ts';
import { parseTimestampMs } from './timestamps.ts';

/** Reads single fields of a response. Only the specified fields are needed; unknown ones are ignored. */

/** A job's progress; null if the service gives none or gives something that isn't a number. */
export type ExportProgress = { percent: number | null; pageCount: number | null };

export function field(response: AdminApiResponse, name: string): unknown {
  return isRecord(response.body) ? response.body[name] : undefined;
}

/** A text field, trimmed and cut to 500 characters; a number counts as its digits. */
export function textField(response: AdminApiResponse, name: string): string | undefined {
  const value = field(response, name);
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, 500) : undefined;
}

/** The first of the named fields that is a time, as RFC 3339 in UTC; null if none is. */
export function timeField(response: AdminApiResponse, ...names: readonly string[]): string | null {
  const times = names.map((name) => parseTimestampMs(field(response, name)));
  const ms = times.find((time) => time !== undefined && Math.abs(time) <= LATEST_DATE_MS);
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** The largest time that `Date` can hold. */
const LATEST_DATE_MS = 8.64e15;

/** When a completed job ended, as RFC 3339; null if the service doesn't say. */
export function endTimeOf(response: AdminApiResponse): string | null {
  return timeField(response, 'completedAt', 'finishedAt', 'updatedAt');
}

export function progressOf(response: AdminApiResponse): ExportProgress {
  return { percent: toNumber(field(response, 'progress')), pageCount: toNumber(field(response, 'pageCount')) };
}

/** The error message of a response. HTML is named as such, never quoted. */
export function errorText(response: AdminApiResponse): string {
  const said = textField(response, 'error') ?? textField(response, 'message');
  if (said !== undefined) return said.slice(0, 300);
  if (response.text.trim() === '') return 'an empty body';
  if (/html/i.test(response.contentType) || /^\s*</.test(response.text)) return 'an HTML page instead of JSON';
  return response.body === undefined ? 'a body that is not JSON' : 'JSON without an error message';
}

function toNumber(value: unknown): number | null {
  const number = typeof value === 'string' ? Number.parseFloat(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
