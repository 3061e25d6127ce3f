import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { readJsonDelivery } from './json-delivery.ts';
import { anyEqualInConstantTime, hmacOf, outsideWindow, readTimestampMs, timeWindow } from './signature.ts';
import { rejected, type WebhookSource } from './source.ts';

/**
 * Any sender that signs its body: header, algorithm, encoding and prefix are configured. With a timestamp header
 * `{timestamp}.{body}` is signed and the time is held to the window; without one, no time is known.
 */
export function hmacSource(settings: NonNullable<WebhookSources['hmac']>): WebhookSource {
  const { algorithm, encoding, prefix, timestampHeader, timestampUnit, idHeader } = settings;
  const window = timeWindow(settings.window);
  return {
    verify({ header, body }, secrets, now) {
      const signature = header(settings.header);
      const timestamp = timestampHeader === undefined ? undefined : header(timestampHeader);
      const id = idHeader === undefined ? undefined : header(idHeader);
      if (!signature) return rejected('missing-header');
      if ((timestampHeader !== undefined && !timestamp) || (idHeader !== undefined && !id)) {
        return rejected('missing-header');
      }
      const signedAtMs = timestamp === undefined ? now.getTime() : readTimestampMs(timestamp, timestampUnit);
      if (signedAtMs === undefined || !signature.startsWith(prefix)) return rejected('malformed-header');
      const parts = timestamp === undefined ? [body] : [`${timestamp}.`, body];
      const expected = secrets.map((secret) => hmacOf(algorithm, secret, parts, encoding));
      const given = signature.slice(prefix.length);
      // Hexadecimal digits mean the same in both cases, and senders write both.
      if (!anyEqualInConstantTime(expected, encoding === 'hex' ? given.toLowerCase() : given)) {
        return rejected('bad-signature');
      }
      const outside = outsideWindow(signedAtMs, now, window);
      return outside === undefined ? { ok: true, vendorId: id ?? null } : rejected(outside);
    },
    read: (_request, body, delivery) => readJsonDelivery('hmac', body, delivery, settings.filters),
  };
}
