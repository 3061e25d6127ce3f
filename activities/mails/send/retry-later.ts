import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { MailResult } from '../mail-input.ts';

/** The `type` of the ApplicationFailure from this folder's activities. Temporal retries all but the last. */
export type MailFailureType =
  /** The mail server asks for a retry (4xx: greylisting, a full mailbox). */
  | 'MailDeferred'
  /** The mail server or Temporal can't be reached. Nothing was sent. */
  | 'MailUnsent'
  /** Temporal can't say who has unsubscribed. Nothing was sent. */
  | 'SubscriptionsUnknown'
  /** The forge can't make the reviewer's link. Nothing was sent. */
  | 'ReviewLinkUnknown'
  /** galley.yaml has no `smtp`. */
  | 'NoMailServer';

export type RetryTiming = {
  /** Wait after the first attempt, doubled after each further one up to `longestMs`. */
  firstMs: number;
  longestMs: number;
};

/** Greylisting takes some minutes, so there is no point in retrying within seconds. */
export const DEFERRED: RetryTiming = { firstMs: 60_000, longestMs: 30 * 60_000 };

/** A restarted server is back within seconds. */
export const UNSENT: RetryTiming = { firstMs: 5_000, longestMs: 10 * 60_000 };

/** Mail servers themselves give up after days. A review request that is this late needs another channel. */
const GIVE_UP_AFTER_MS = 36 * 3_600_000;

/** Spreads the retries of mails that failed together. */
const JITTER = 0.1;

/**
 * Throws a failure that Temporal retries after a fitting wait. After 36 hours it returns that the mail is
 * refused, with the reason.
 */
export function retryLater(type: MailFailureType, reason: string, { firstMs, longestMs }: RetryTiming): MailResult {
  const { attempt, scheduledTimestampMs } = Context.current().info;
  const grownMs = Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), longestMs);
  const delayMs = Math.round(grownMs * (1 + JITTER * Math.random()));
  if (Date.now() + delayMs - scheduledTimestampMs > GIVE_UP_AFTER_MS) {
    const hours = Math.round(GIVE_UP_AFTER_MS / 3_600_000);
    return { outcome: 'refused', detail: `given up after ${hours} hours: ${reason}` };
  }
  throw ApplicationFailure.create({
    type,
    message: reason,
    nextRetryDelay: delayMs,
    // A server that defers mail is no error.
    ...(type === 'MailDeferred' ? { category: 'BENIGN' } : {}),
  });
}
