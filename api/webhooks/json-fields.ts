import { cutText } from '../../contract/cut-text.ts';

/** Signals and prompts carry these texts, so their length is limited. */
const MAX_CHARACTERS = 500;

/** The value at a path of keys, or undefined. Only own keys count, so that a body can't reach inherited properties. */
export function field(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

/** A text or number as a trimmed text of at most 500 characters; undefined if it is empty or anything else. */
export function readText(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return undefined;
  return cutText(text.trim(), MAX_CHARACTERS) || undefined;
}

/** The first of the values that is a text. Use `firstTextOf` for a list from a sender. */
export function firstText(...values: readonly unknown[]): string | undefined {
  return firstTextOf(values);
}

/** The first text in a list of any length: the number of arguments of a call is limited. */
export function firstTextOf(values: readonly unknown[]): string | undefined {
  return readText(values.find((value) => readText(value) !== undefined));
}

/** The first of the values that is a date. */
export function firstInstant(...values: readonly unknown[]): string | undefined {
  return values.map(readInstant).find((instant) => instant !== undefined);
}

/** An http(s) URL; undefined for anything else, which no mail or page may link to. */
export function readLink(value: unknown): string | undefined {
  const text = readText(value);
  return text !== undefined && /^https?:\/\//i.test(text) ? text : undefined;
}

/** A date and a time of day without an offset, as WordPress and databases write them. */
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/**
 * A date in RFC 3339 from what senders write (RFC 3339 or similar, seconds or milliseconds since 1970). Without an offset
 * it is UTC; JavaScript would use this machine's time zone.
 */
export function readInstant(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  // Seconds stay below 1e11 until the year 5138; milliseconds passed it in 1973.
  const date = new Date(typeof value === 'number' ? (value < 1e11 ? value * 1000 : value) : withOffset(value.trim()));
  const year = date.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? date.toISOString() : undefined;
}

function withOffset(text: string): string {
  return WITHOUT_OFFSET.test(text) ? `${text.replace(' ', 'T')}Z` : text;
}
