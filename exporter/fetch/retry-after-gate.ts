import { MAX_PATIENCE_MS } from './retry-after.ts';

/** Thrown in place of a request to an origin that asks for no more requests; the message is fit for the report. */
export class OriginAskedForQuiet extends Error {
  override readonly name = 'OriginAskedForQuiet';

  constructor() {
    super(`the origin asks to be left alone for more than ${MAX_PATIENCE_MS / 60_000} minutes`);
  }
}

/** What `Retry-After` makes of an origin, with times in milliseconds of the caller's clock. */
export type RetryAfterGate = {
  /** No request may begin before this. */
  pausedUntil(): number;
  /** Whether requests are to fail instead of waiting. */
  isRefused(nowMs: number): boolean;
  /** The origin asked for a pause; an answer of true: for too long once more, those who wait should fail. */
  ask(pauseMs: number, nowMs: number): boolean;
  /** A request that began then got its answer. */
  answered(startedAtMs: number): void;
};

/**
 * A pause is kept, up to the longest. An origin that asks for a longer one may mean a single address, so it gets one
 * longest pause; if the first word after that is the same, it has refused, and is asked again that much later only.
 * Else a header could hold up every export of the process for years.
 */
export function createRetryAfterGate(): RetryAfterGate {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  /** When the pause of an origin that asked for too long a one ends; undefined where its last word was an answer. */
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
    answered(startedAtMs) {
      if (lastChanceAt !== undefined && startedAtMs >= lastChanceAt) lastChanceAt = undefined;
    },
  };
}
