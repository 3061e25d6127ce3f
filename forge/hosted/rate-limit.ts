import { parseRetryAfterMs } from '../../base/retry-after.ts';

/** A longer wait is cut to this; the next response gives the time again. */
const MAX_WAIT_MS = 3_600_000;

/** GitHub asks for at least a minute if a secondary limit gives no time. */
const UNNAMED_WAIT_MS = 60_000;

/**
 * Whether a response refuses because of too many calls, and how long to wait. GitHub says so with 403 or 429: by
 * `Retry-After`, by `x-ratelimit-remaining: 0` and the second of `x-ratelimit-reset`, or for its secondary limits in
 * the message only (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api). A 503 may name a time too.
 * Times are compared with the response's own `Date`, so that a wrong clock of ours does no harm.
 */
export function rateLimitOf(
  response: { status: number; headers: Readonly<Record<string, unknown>>; message: string },
  nowMs: number,
): { limited: boolean; waitMs: number | null } {
  const header = (name: string): string => String(response.headers[name] ?? '').trim();
  const theirNowMs = Date.parse(header('date')) || nowMs;
  const refused = response.status === 403 || response.status === 429;
  const retryAfterMs = parseRetryAfterMs(header('retry-after'), header('date'));
  if (retryAfterMs !== undefined && (refused || response.status === 503)) {
    return { limited: refused, waitMs: retryAfterMs };
  }
  if (!refused) return { limited: false, waitMs: null };
  const resetSeconds = Number(header('x-ratelimit-reset'));
  if (header('x-ratelimit-remaining') === '0' && resetSeconds > 0) {
    // The reset is in whole seconds: add one, so that the next call is surely after it.
    const waitMs = Math.max(0, resetSeconds * 1000 - theirNowMs) + 1000;
    return { limited: true, waitMs: Math.min(waitMs, MAX_WAIT_MS) };
  }
  const limited =
    response.status === 429 || /secondary rate limit|rate limit exceeded|abuse detection/i.test(response.message);
  return { limited, waitMs: limited ? UNNAMED_WAIT_MS : null };
}
