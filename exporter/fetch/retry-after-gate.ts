/** Thrown instead of a request to an origin that refuses requests; the message is suitable for the report. */
export class OriginAskedForQuiet extends Error {
  override readonly name = 'OriginAskedForQuiet';

  constructor() {
    super(`the origin asks to be left alone for more than ${MAX_PATIENCE_MS / 60_000} minutes`);
  }
}

/** The effect of `Retry-After` on an origin. Times in milliseconds of the caller's clock. */
export type RetryAfterGate = {
  /** No request may start before this. */
  pausedUntil(): number;
  /** Whether requests must fail instead of waiting. */
  isRefused(nowMs: number): boolean;
  /** The origin asked for a pause. Returns true if it was too long again, and pending requests should fail. */
  ask(pauseMs: number, nowMs: number): boolean;
  /** A request that started at this time got its response. */
  succeeded(startedAtMs: number): void;
};

/**
 * Keeps a pause, up to the maximum. A longer one may concern only a single URL, so the origin first gets one maximum
 * pause. If it then asks for too long a pause again, it counts as refusing until another one is over. Otherwise a
 * header could block all exports of the process for years.
 */
export function createRetryAfterGate(): RetryAfterGate {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  /** The end of the first pause after a request for too long a one; undefined once the origin has responded since. */
  let lastChanceAt: number | undefined;
  return {
    pausedUntil: () => pausedUntil,
    isRefused: (nowMs) => nowMs < refusedUntil,
    ask(pauseMs, nowMs) {
      pausedUntil = Math.max(pausedUntil, nowMs + Math.min(pauseMs, MAX_PATIENCE_MS));
      if (pauseMs <= MAX_PATIENCE_MS) return false;
      if (lastChanceAt === undefined || nowMs < lastChanceAt) {
        lastChanceAt = pausedUntil;
        return false;
      }
      refusedUntil = pausedUntil;
      return true;
    },
    succeeded(startedAtMs) {
      if (lastChanceAt !== undefined && startedAtMs >= lastChanceAt) lastChanceAt = undefined;
    },
  };
}

/** An origin that asks for a longer pause than this counts as refusing. */
export const MAX_PATIENCE_MS = 5 * 60_000;
