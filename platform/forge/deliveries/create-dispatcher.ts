import { randomUUID } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import type { Logger } from 'pino';
import { backoff } from '../../../base/backoff.ts';
import { errorCode } from '../../../base/error-code.ts';
import { request } from '../../../base/request.ts';
import { createIntervalLoop } from '../../interval-loop.ts';
import type { Database } from '../../store/database.ts';
import { type AttemptEnd, type DeliveryRow, leaseDelivery, settleDelivery } from '../../store/forge-deliveries.ts';
import { getProject } from '../../store/projects.ts';
import { withoutValues } from '../../store/query-error.ts';

export type ForgeDispatcher = {
  /** Starts to send due deliveries, and polls for more after each interval. */
  start(): void;
  /** Call after something was put into the outbox. */
  wake(): void;
  /** Aborts deliveries in progress; they are sent again later, with the same id. */
  stop(): Promise<void>;
};

type DispatcherDeps = {
  db: Database;
  logger: Logger;
  intervalMs?: number;
  /** Timeout of one attempt, including the response. */
  timeoutMs?: number;
};

/** How long to wait after that many attempts (1 or more): a second, doubling to ten minutes. */
export const deliveryRetryDelayMs = backoff({ firstMs: 1_000, maxMs: 600_000 });

/** After this, a delivery is given up. */
const GIVE_UP_AFTER_MS = 86_400_000;
/** Several deliveries run at once, so that one hanging receiver doesn't delay the others. */
const AT_ONCE = 4;
/** Longer than any attempt: a delivery leased by a dead process becomes due again after this. */
const LEASE_MARGIN_MS = 5_000;

/** Sends the forge's webhooks from the outbox. Any number of processes may do so on one database. */
export function createForgeDispatcher({
  db,
  logger,
  intervalMs = 1_000,
  timeoutMs = 10_000,
}: DispatcherDeps): ForgeDispatcher {
  const sending = new Set<Promise<void>>();
  const loop = createIntervalLoop({ intervalMs, turn, onFailure: logFailure });

  async function deliver(row: DeliveryRow, token: string): Promise<void> {
    const attempt = await attemptDelivery(row);
    // A failure during the stop was most likely caused by it; a delivery that was accepted before isn't sent again.
    const brokenOff = attempt.kind === 'failed' && loop.signal.aborted;
    const end = brokenOff ? BROKEN_OFF : judge(row, attempt, Date.now());
    if (end.kind !== 'delivered' && !brokenOff) {
      const { id: deliveryId, event, projectId } = row;
      const details = {
        deliveryId,
        event,
        projectId,
        reason: end.error,
        ...(end.kind === 'again' && { retryInMs: end.delayMs }),
      };
      logger.warn(details, end.kind === 'again' ? 'The receiver rejected a webhook; retrying' : 'Gave up a webhook');
    }
    await settleDelivery(db, { id: row.id, token, end });
  }

  async function attemptDelivery(row: DeliveryRow): Promise<Attempt> {
    const project = await getProject(db, row.projectId);
    const { webhookUrl: url = null, webhookSecret: secret = null } = project?.settings ?? {};
    if (url === null) return { kind: 'failed', error: 'the project no longer has a webhook URL', permanent: true };
    const signal = AbortSignal.any([loop.signal, AbortSignal.timeout(timeoutMs)]);
    return await sendDelivery(row, { url, secret, signal });
  }

  /** True if one was found, so there may be more. */
  async function sendNext(): Promise<boolean> {
    const token = randomUUID();
    const row = await leaseDelivery(db, { token, leaseMs: timeoutMs + LEASE_MARGIN_MS });
    if (row === undefined) return false;
    const sent = deliver(row, token)
      .catch(logFailure)
      .finally(() => {
        sending.delete(sent);
        // The project's next delivery waited for this one.
        loop.wake();
      });
    sending.add(sent);
    return true;
  }

  function logFailure(error: unknown): void {
    logger.warn({ err: withoutValues(error) }, 'The outbox of webhooks could not be read; retrying');
  }

  async function turn(): Promise<boolean> {
    return sending.size < AT_ONCE && (await sendNext());
  }

  return {
    start: loop.start,
    wake: loop.wake,
    async stop() {
      await loop.stop();
      await Promise.all(sending);
    },
  };
}

const BROKEN_OFF: AttemptEnd = { kind: 'again', error: 'the process that sent it ended', delayMs: 0 };

function judge(row: DeliveryRow, attempt: Attempt, nowMs: number): AttemptEnd {
  if (attempt.kind === 'delivered') return attempt;
  const { error, permanent } = attempt;
  const delayMs = deliveryRetryDelayMs(row.attemptCount + 1);
  const isOver = nowMs + delayMs > row.createdAt.getTime() + GIVE_UP_AFTER_MS;
  return permanent || isOver ? { kind: 'failed', error } : { kind: 'again', error, delayMs };
}

type Attempt =
  | { kind: 'delivered' }
  /** `permanent`: the receiver will never accept it. */
  | { kind: 'failed'; error: string; permanent: boolean };

/** Statuses about the body: the same bytes would be rejected again. */
const NEVER_TAKEN = [400, 410, 413, 415, 422];

/**
 * Sends a delivery once, as GitHub does. Any 2xx is success. Redirects aren't followed, because the signature is for
 * one URL only. Without a secret nothing is signed.
 */
export async function sendDelivery(
  { id, event, bodyJson }: Pick<DeliveryRow, 'id' | 'event' | 'bodyJson'>,
  { url, secret, signal }: { url: string; secret: string | null; signal: AbortSignal },
): Promise<Attempt> {
  try {
    const signature = secret === null ? undefined : await new Webhooks({ secret }).sign(bodyJson);
    const { statusCode, body } = await request(url, {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Galley-Forge/1',
        'x-github-event': event,
        'x-github-delivery': id,
        ...(signature !== undefined && { 'x-hub-signature-256': signature }),
      },
      body: bodyJson,
    });
    // Only the status matters; a long or endless body is cut off by closing the connection.
    await body.dump({ limit: 65_536, signal }).catch(() => undefined);
    if (statusCode >= 200 && statusCode <= 299) return { kind: 'delivered' };
    return {
      kind: 'failed',
      error: `answered ${statusCode}${hintOf(statusCode)}`,
      permanent: NEVER_TAKEN.includes(statusCode),
    };
  } catch (error) {
    return { kind: 'failed', error: signal.aborted ? 'no response in time' : reasonOf(error), permanent: false };
  }
}

/** What to fix in the project's settings for common error statuses. */
function hintOf(statusCode: number): string {
  if (statusCode === 401) return ": the project's webhook secret isn't that of the receiver's github source";
  if (statusCode === 404) return ': the receiver has no such site, or the site no github source';
  return '';
}

/** Returns only the error's code: network messages quote URLs, which may hold a secret. */
function reasonOf(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
}
