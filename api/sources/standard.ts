import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { readJsonDelivery } from './json-delivery.ts';
import { anyEqualInConstantTime, hmacOf, outsideWindow, readTimestampMs, timeWindow } from './signature.ts';
import { rejected, type WebhookSource } from './source.ts';

/** Two secrets rotate with two signatures; each one given costs work before anything is known of the sender. */
const MAX_SIGNATURES = 20;

/**
 * Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks), as Svix and others send them:
 * `{id}.{timestamp}.{body}` under HMAC-SHA256, base64. The header may carry several signatures; any match passes.
 */
export function standardSource(settings: NonNullable<WebhookSources['standard']>): WebhookSource {
  const window = timeWindow(settings.window);
  return {
    verify({ header, body }, secrets, now) {
      const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header);
      if (!id || !timestamp || !signatures) return rejected('missing-header');
      const signedAtMs = readTimestampMs(timestamp, 's');
      if (signedAtMs === undefined) return rejected('malformed-header');
      const expected = secrets.map(
        (secret) => `v1,${hmacOf('sha256', keyOf(secret), [`${id}.${timestamp}.`, body], 'base64')}`,
      );
      if (!signatures.split(' ', MAX_SIGNATURES).some((given) => anyEqualInConstantTime(expected, given))) {
        return rejected('bad-signature');
      }
      const outside = outsideWindow(signedAtMs, now, window);
      return outside === undefined ? { ok: true, vendorId: id } : rejected(outside);
    },
    read: (_request, body, delivery) => readJsonDelivery('standard', body, delivery, settings.filters),
  };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}
