import { createHmac } from 'node:crypto';
import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender } from '../sender.ts';
import { plainSample } from './matching.ts';

/** Whatever signs its body as the site's configuration says. */
export function hmacSender(settings: NonNullable<WebhookSources['hmac']>): Sender {
  const { header, algorithm, encoding, prefix, timestampHeader, timestampUnit, idHeader } = settings;
  return {
    sample: (event) => plainSample(settings.filters, event),
    headers({ id, at, body, secret }) {
      const timestamp = timestampUnit === 's' ? Math.floor(at.getTime() / 1000) : at.getTime();
      const signed = timestampHeader === undefined ? body : `${timestamp}.${body}`;
      const signature = createHmac(algorithm, secret).update(signed).digest(encoding);
      return {
        ...(timestampHeader !== undefined && { [timestampHeader.toLowerCase()]: String(timestamp) }),
        ...(idHeader !== undefined && { [idHeader.toLowerCase()]: id }),
        [header.toLowerCase()]: `${prefix}${signature}`,
      };
    },
  };
}
