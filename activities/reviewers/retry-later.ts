import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { MailResult } from './mail-input.ts';

/** What a failed activity of this folder tells: the `type` of its ApplicationFailure. Temporal retries all but the last. */
export type MailFailureType =
  /** The mail server wants to be asked again (4xx: greylisting, a full mailbox). */
  | 'MailDeferred'
  /** The mail server, or Temporal, can't be reached as it should. Nothing was sent. */
  | 'MailUnsent'
  /** Who has unsubscribed isn't known at the moment. Nothing was sent. */
  | 'SubscriptionsUnknown'
  /** The forge can't make the reviewer's link at the moment. Nothing was sent. */
  | 'ReviewLinkUnknown'
  /** galley.yaml has no `smtp`. */
  | 'NoMailServer';

export type RetryTiming = {
  /** Wait after the first attempt, doubled after each further one up to `longestMs`. */
  firstMs: number;
  longestMs: number;
};

/** Greylisting wants some minutes; what still isn't taken after that won't be within seconds. */
export const DEFERRED: RetryTiming = { firstMs: 60_000, longestMs: 30 * 60_000 };

/** A server that is restarted is back within seconds. */
export const UNSENT: RetryTiming = { firstMs: 5_000, longestMs: 10 * 60_000 };

/** Mail servers themselves give up after days. A review that nobody heard of within this time needs another way. */
export const GIVE_UP_AFTER_MS = 36 * 3_600_000;

/** Shares out the retries of mails that failed together. */
const JITTER = 0.1;

/**
 * Throws what Temporal retries after a fitting wait; once it has been tried for `giveUpAfterMs` it returns that the mail
 * is refused, with the reason.
 */
export function retryLater(
  type: MailFailureType,
  reason: string,
  { firstMs, longestMs }: RetryTiming,
  giveUpAfterMs = GIVE_UP_AFTER_MS,
): MailResult {
  const { attempt, scheduledTimestampMs } = Context.current().info;
  const grownMs = Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), longestMs);
  const delayMs = Math.round(grownMs * (1 + JITTER * Math.random()));
  if (Date.now() + delayMs - scheduledTimestampMs > giveUpAfterMs) {
    const hours = Math.round(giveUpAfterMs / 3_600_000);
    return { outcome: 'refused', detail: `given up after ${hours} hours: ${reason}` };
  }
  throw ApplicationFailure.create({
    type,
    message: reason,
    nextRetryDelay: delayMs,
    // A server that asks for patience is no error of anybody's.
    ...(type === 'MailDeferred' ? { category: 'BENIGN' } : {}),
  });
}
