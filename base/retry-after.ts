/** A longer wait is cut to this; the next response gives the time again. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Parses a `Retry-After` header (RFC 9110, 10.2.3), seconds or a date, as a wait in milliseconds, 0 to one hour; undefined
 * if there is none.
 * @param responseDate the response's `Date`: a date is compared with it, so a wrong clock of ours does no harm
 */
export function parseRetryAfterMs(value: string | undefined, responseDate?: string): number | undefined {
  const text = value?.trim() ?? '';
  const isSeconds = /^\d+(\.\d+)?$/.test(text);
  const waitMs = isSeconds
    ? Number(text) * 1000
    : parseHttpDateMs(text) - (parseHttpDateMs(responseDate ?? '') || Date.now());
  return Number.isNaN(waitMs) ? undefined : Math.ceil(Math.min(Math.max(waitMs, 0), MAX_WAIT_MS));
}

/** The time of an HTTP date. Its obsolete asctime form names no zone, and all forms are in GMT (RFC 9110, 5.6.7). */
function parseHttpDateMs(text: string): number {
  return Date.parse(/(?:GMT|UTC|Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} GMT`);
}
