import { Context } from '@temporalio/activity';
import type { MailResult } from '../mail-input.ts';
import type { OutgoingMail } from '../message/compose-mail.ts';
import type { MailDelivery } from './delivery.ts';
import type { Mailer } from './mailer.ts';
import { DEFERRED, type RetryTiming, retryLater, UNSENT } from './retry-later.ts';
import { createSendingMark, type HeartbeatClient, readNote } from './sending-mark.ts';

/**
 * The attempt doesn't heartbeat until the mark is set (sending-mark.ts), so it must get there within this share of the
 * heartbeat timeout, or end. The rest is for storing the mark.
 */
const SHARE_UNTIL_MARK = 0.75;
const DEFAULT_HEARTBEAT_TIMEOUT_MS = 30_000;

/** A stopping worker waits this long for the response to a last line; then the outcome is unknown. */
const LAST_ANSWER_MS = 5_000;

const INTERRUPTED =
  'an earlier attempt ended while the mail server may have had the message, so it is not sent a second time';

export type SendOnceDeps = {
  mailer: Mailer;
  client: HeartbeatClient;
  /** Shorter waits, for tests. */
  timing?: { deferred?: RetryTiming; unsent?: RetryTiming; lastAnswerMs?: number };
};

/**
 * Sends a message at most once, however often the activity is retried. SMTP allows no more: between the
 * message's last line and the server's response, the outcome is unknown. The order is: everything but the last line,
 * the mark "sending" stored in Temporal, the last line, the response. Then:
 * - accepted: `sent`; rejected for good (550): `refused`; both are stored, so a retry returns the same;
 * - rejected for now (451), or no connection: the mark is cleared and Temporal retries the failure;
 * - no response: `unknown`, now or in the retry that finds the mark.
 * @param startedMs when the attempt began.
 */
export async function sendOnce(
  { mailer, client, timing = {} }: SendOnceDeps,
  mail: OutgoingMail,
  startedMs: number,
): Promise<MailResult> {
  const context = Context.current();
  const mark = createSendingMark(client);
  const { unlessReleased, anyway } = limits(context, startedMs, timing.lastAnswerMs ?? LAST_ANSWER_MS);
  try {
    const delivery = await mailer.deliver(mail, { beforeLastLine: mark.set, unlessReleased, anyway });
    const final = resultOf(delivery);
    if (final !== null) {
      if (final.outcome !== 'unknown') await mark.replace({ stage: 'answered', result: final });
      return final;
    }
    await mark.replace({ stage: 'not-sent' });
    if (context.cancellationSignal.aborted) await context.cancelled;
    return delivery.kind === 'refused'
      ? retryLater('MailDeferred', delivery.answer, timing.deferred ?? DEFERRED)
      : retryLater('MailUnsent', reasonOf(delivery), timing.unsent ?? UNSENT);
  } finally {
    mark.stop();
  }
}

/** The result that earlier attempts of this activity left; null if this one is to send. */
export function earlierResult(): MailResult | null {
  const note = readNote(Context.current().info.heartbeatDetails);
  if (note === null) return null;
  return note.stage === 'answered' ? note.result : { outcome: 'unknown', detail: INTERRUPTED };
}

/** Null if a retry is needed. */
function resultOf(delivery: MailDelivery): MailResult | null {
  switch (delivery.kind) {
    case 'accepted':
      return { outcome: 'sent', detail: delivery.answer };
    case 'refused':
      return delivery.permanent ? { outcome: 'refused', detail: delivery.answer } : null;
    case 'unknown':
      return { outcome: 'unknown', detail: delivery.reason };
    case 'unsent':
      return null;
  }
}

function reasonOf(delivery: MailDelivery): string {
  return 'reason' in delivery ? `not sent: ${delivery.reason}` : delivery.answer;
}

function limits(
  context: Context,
  startedMs: number,
  lastAnswerMs: number,
): { unlessReleased: AbortSignal; anyway: AbortSignal } {
  const { cancellationSignal } = context;
  const heartbeatTimeoutMs = context.info.heartbeatTimeoutMs ?? DEFAULT_HEARTBEAT_TIMEOUT_MS;
  const untilMarkMs = Math.max(startedMs + heartbeatTimeoutMs * SHARE_UNTIL_MARK - Date.now(), 0);
  const anyway = new AbortController();
  const stop = (): void => void setTimeout(() => anyway.abort(), lastAnswerMs).unref();
  cancellationSignal.addEventListener('abort', stop, { once: true });
  return {
    unlessReleased: AbortSignal.any([AbortSignal.timeout(untilMarkMs), cancellationSignal]),
    anyway: anyway.signal,
  };
}
