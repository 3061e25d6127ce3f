import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { parseRetryAfterMs } from '../../base/retry-after.ts';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { NotificationEvent, NotificationTarget } from '../../contract/notification.ts';
import { type MessageResult, postMessage } from './post.ts';
import { jsonMessage, type OutgoingMessage, signMessage } from './sign-message.ts';
import { slackText } from './slack-text.ts';
import type { ConfiguredTarget } from './targets.ts';

/** One event for one target. */
export type NotificationInput = { site: string; event: NotificationEvent; target: NotificationTarget };

export type SendNotificationDeps = {
  targets: readonly ConfiguredTarget[];
  /** The receiver's public URL; without it messages don't link the page of the site. */
  publicUrl?: string | undefined;
  logger: Logger;
  timing?: {
    /** The limit for one attempt, in milliseconds. */
    timeoutMs?: number;
    /** How long, in milliseconds, a target that this worker doesn't know is left to other workers. */
    unknownForMs?: number;
  };
};

/** Attempts at the same time in this process. More than that wait at Temporal. */
export const NOTIFICATION_SLOTS = 50;

/** Workers with an older and a newer galley.yaml may run side by side for so long. */
const UNKNOWN_FOR_MS = 10 * 60_000;
const UNKNOWN_RETRY_MS = 10_000;

const BUSY_RETRY_MS = 2_000;

/** A 4xx means that the same request fails again, except for these. */
const TEMPORARY_4XX = [408, 425, 429];

/**
 * Sends one notification. Temporal retries the failures that may pass; the retry policy is the workflow's. The URL and the
 * secret are this worker's, by the target's hash, and never part of an error.
 */
export function createSendNotification({ targets, publicUrl, logger, timing = {} }: SendNotificationDeps) {
  const { timeoutMs, unknownForMs = UNKNOWN_FOR_MS } = timing;
  const withSlot = createSlots(targets.length);

  return async function sendNotification(input: NotificationInput): Promise<{ status: number }> {
    const { site, event, target: named } = input;
    const target = targets.find(({ hash }) => hash === named.hash);
    if (target === undefined) throw unknownTarget(named, unknownForMs);
    const message = composeMessage(input, { target, publicUrl, now: new Date() });
    const { cancellationSignal, info } = Context.current();
    const result = await withSlot(target, () =>
      postMessage(target.url, message, { canceled: cancellationSignal, timeoutMs }),
    );
    const { status, reason } = result;
    logger.info(
      { site, event: event.type, target: nameOf(target), attempt: info.attempt, status, reason },
      'notification',
    );
    if (status !== null && status >= 200 && status < 300) return { status };
    throw failureOf(result, target);
  };
}

type WithSlot = <Result>(target: ConfiguredTarget, send: () => Promise<Result>) => Promise<Result>;

/** Each target gets its share of the slots, so that one that hangs leaves the others theirs. */
function createSlots(targets: number): WithSlot {
  const share = Math.max(1, Math.floor(NOTIFICATION_SLOTS / Math.max(targets, 1)));
  const inUse = new Map<string, number>();
  return async (target, send) => {
    const count = inUse.get(target.hash) ?? 0;
    if (count >= share) throw busy(target);
    inUse.set(target.hash, count + 1);
    try {
      return await send();
    } finally {
      inUse.set(target.hash, (inUse.get(target.hash) ?? 1) - 1);
    }
  };
}

function busy(target: ConfiguredTarget): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'TargetBusy',
    message: `${nameOf(target)} responds slowly: other notifications for it are being sent`,
    // Spread, so that those who wait don't all return at once.
    nextRetryDelay: Math.ceil(BUSY_RETRY_MS * (1 + Math.random())),
    category: 'BENIGN',
  });
}

function unknownTarget(target: NotificationTarget, unknownForMs: number): ApplicationFailure {
  const ageMs = Date.now() - Context.current().info.scheduledTimestampMs;
  return ApplicationFailure.create({
    type: 'TargetRemoved',
    message: `${nameOf(target)} was removed from galley.yaml, or its URL was changed`,
    nonRetryable: ageMs >= unknownForMs,
    nextRetryDelay: Math.min(UNKNOWN_RETRY_MS, Math.max(unknownForMs - ageMs, 1)),
  });
}

function failureOf(result: MessageResult, target: ConfiguredTarget): ApplicationFailure {
  const { status, reason } = result;
  if (status === null) return failure('NotDelivered', `${nameOf(target)}: ${reason}`);
  const message = `${nameOf(target)} returned ${status}${reason === '' ? '' : ` ${reason}`}`;
  if (status >= 300 && status < 400) {
    return failure('Rejected', `${message}: redirects are not followed, set the URL that it leads to`, true);
  }
  if (status >= 400 && status < 500 && !TEMPORARY_4XX.includes(status)) return failure('Rejected', message, true);
  const retryAfterMs = parseRetryAfterMs(result.retryAfter, result.date);
  return ApplicationFailure.create({
    type: 'NotDelivered',
    message,
    // A wait of zero would be a hot loop against a service that asked for a pause.
    ...(retryAfterMs !== undefined && { nextRetryDelay: Math.max(retryAfterMs, 1_000) }),
  });
}

function failure(type: string, message: string, nonRetryable = false): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable });
}

function nameOf({ number, host }: NotificationTarget): string {
  return `notify ${number} (${host})`;
}

/**
 * The request for one target.
 * @param publicUrl the receiver's public URL, for links to the page of the site
 * @param now signed as the time of the attempt
 */
function composeMessage(
  { site, event }: Pick<NotificationInput, 'site' | 'event'>,
  { target, publicUrl, now }: { target: ConfiguredTarget; publicUrl: string | undefined; now: Date },
): OutgoingMessage {
  const siteUrl = publicUrl === undefined ? null : `${publicUrl}/ui/sites/${site}`;
  if (target.kind === 'slack') return jsonMessage({ text: slackText(event, siteUrl) });
  const { type, at, data } = event;
  return signMessage(
    { type, timestamp: at, data: siteUrl === null ? data : { ...data, siteUrl } },
    { identity: WORKFLOW_IDS.notification(site, event.id, target.hash), secrets: target.secrets, now },
  );
}
