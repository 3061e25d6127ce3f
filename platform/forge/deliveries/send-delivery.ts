import { Webhooks } from '@octokit/webhooks';
import { errorCode } from '../../../base/error-code.ts';
import { request } from '../../../base/request.ts';
import type { DeliveryRow } from '../../store/forge-deliveries.ts';

export type Attempt =
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
