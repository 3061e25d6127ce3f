/** An origin that asks for a longer pause than this counts as refusing. */
export const MAX_PATIENCE_MS = 5 * 60_000;

/** Parses a `Retry-After` header, seconds or an HTTP date, as milliseconds from now; undefined if there is none. */
export function readRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
