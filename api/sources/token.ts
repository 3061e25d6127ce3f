import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { firstMissed, readJsonDelivery } from './json-delivery.ts';
import { anyEqualInConstantTime } from './signature.ts';
import { rejected, type WebhookSource } from './source.ts';

export type TokenSettings = NonNullable<WebhookSources['token']>;

/** Any system that signs nothing but can send a header. */
export function tokenSource(settings: TokenSettings): WebhookSource {
  return withToken(settings, (_request, body, delivery) => readJsonDelivery('token', body, delivery));
}

/**
 * What the systems that sign nothing share: the configured token stands in `Authorization: Bearer …`, or bare in a
 * header that the site's configuration names, and the site's `filters` hold for whatever `read` publishes.
 */
export function withToken({ header: name, filters = {} }: TokenSettings, read: WebhookSource['read']): WebhookSource {
  return {
    verify({ header }, secrets) {
      const value = header(name ?? 'authorization');
      if (!value) return rejected('missing-header');
      const token = name === undefined ? /^Bearer +(\S.*?) *$/i.exec(value)?.[1] : value;
      if (token === undefined) return rejected('malformed-header');
      return anyEqualInConstantTime(secrets, token) ? { ok: true, vendorId: null } : rejected('bad-signature');
    },
    read(request, body, delivery) {
      const reading = read(request, body, delivery);
      if (reading.kind !== 'publish') return reading;
      const missed = firstMissed(body, filters);
      return missed === undefined
        ? reading
        : { kind: 'filtered', topic: reading.event.topic, why: `filters.${missed}` };
    },
  };
}
