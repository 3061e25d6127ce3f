import { readNotifications } from './kontent/notifications.ts';
import { anyEqualInConstantTime, hmacOf } from './signature.ts';
import { rejected, type WebhookSource } from './source.ts';

/** The second is that of legacy webhooks. */
const SIGNATURE_HEADERS = ['x-kontent-ai-signature', 'x-kc-signature'] as const;

/**
 * Kontent.ai (https://kontent.ai/learn/docs/webhooks): the body under HMAC-SHA256, base64. No time is signed and no id
 * is sent. Changes of published data publish; those of the preview and of the management API do not.
 */
export function kontentSource(): WebhookSource {
  return {
    verify({ header, body }, secrets) {
      const signature = SIGNATURE_HEADERS.map(header).find((value) => value !== undefined);
      if (!signature) return rejected('missing-header');
      const expected = secrets.map((secret) => hmacOf('sha256', secret, [body], 'base64'));
      return anyEqualInConstantTime(expected, signature) ? { ok: true, vendorId: null } : rejected('bad-signature');
    },
    read: (_request, body, delivery) => readNotifications(body, delivery),
  };
}
