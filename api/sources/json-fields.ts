import { cutText } from '../../contract/cut-text.ts';

/** Signals and prompts carry these texts, so none may grow without bound. */
const MAX_CHARACTERS = 500;

/**
 * The value at a path of keys, undefined where any step is missing. Only own keys count: a body can't reach what every
 * object inherits.
 */
export function field(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

/** A text or number as a trimmed text of at most 500 characters; undefined for an empty one and for anything else. */
export function readText(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return undefined;
  return cutText(text.trim(), MAX_CHARACTERS) || undefined;
}

/** The first of the values that is a text. A list that a sender made goes to `firstTextOf`. */
export function firstText(...values: readonly unknown[]): string | undefined {
  return firstTextOf(values);
}

/** The first text in a list of any length: a call takes only so many arguments. */
export function firstTextOf(values: readonly unknown[]): string | undefined {
  return readText(values.find((value) => readText(value) !== undefined));
}

/** The first of the values that is a date. */
export function firstInstant(...values: readonly unknown[]): string | undefined {
  return values.map(readInstant).find((instant) => instant !== undefined);
}

/** An address on the web; undefined for anything else, which a mail or a page must not link to. */
export function readLink(value: unknown): string | undefined {
  const text = readText(value);
  return text !== undefined && /^https?:\/\//i.test(text) ? text : undefined;
}

/** A date and a time of day without an offset, as WordPress and databases write them. */
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/**
 * A date as senders write it (RFC 3339 or alike, seconds or milliseconds since 1970), as RFC 3339. One without an offset
 * is UTC: JavaScript would take it for the time of the zone that this machine happens to be in.
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
