const RFC_3339 = /^(\d{4}-\d{2}-\d{2})[Tt _](\d{2}:\d{2}:)(\d{2})(?:[.,](\d+))?\s*([Zz]|[+-]\d{2}:?\d{2}|)$/;

/**
 * Parses a timestamp into milliseconds since 1970. Accepts RFC 3339 in every spelling (lower case, a space for the T,
 * any number of fraction digits, a leap second), no zone as UTC, an HTTP date, or a number of seconds or milliseconds.
 * Undefined if it is none of these.
 */
export function parseTimestampMs(value: unknown): number | undefined {
  if (typeof value === 'number') return fromNumber(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d{9,14}(\.\d+)?$/.test(text)) return fromNumber(Number(text));
  const match = RFC_3339.exec(text);
  if (!match) return finite(Date.parse(text));
  const [, day = '', hourMinute = '', second = '', fraction = '', zone = ''] = match;
  // JavaScript has no leap seconds; the second before is close enough for a link's expiry.
  const wholeSecond = second === '60' ? '59' : second;
  const offset = zone === '' || zone.toUpperCase() === 'Z' ? 'Z' : zone.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2');
  const ms = finite(Date.parse(`${day}T${hourMinute}${wholeSecond}${offset}`));
  return ms === undefined ? undefined : ms + Math.floor(Number(`0.${fraction || '0'}`) * 1000);
}

/** A smaller number is seconds (as milliseconds it would be 1973; as seconds, this is the year 5138). */
const MS_FROM = 1e11;

function fromNumber(value: number): number | undefined {
  return finite(value < MS_FROM ? value * 1000 : value);
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
