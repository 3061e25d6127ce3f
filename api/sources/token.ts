import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { readJsonDelivery } from './json-delivery.ts';
import { anyEqualInConstantTime } from './signature.ts';
import { rejected, type WebhookSource } from './source.ts';

/**
 * Strapi, Directus, Payload, WordPress and others that sign nothing: the configured token stands in
 * `Authorization: Bearer …`, or bare in a header that the site's configuration names.
 */
export function tokenSource({ header: name, filters }: NonNullable<WebhookSources['token']>): WebhookSource {
  return {
    verify({ header }, secrets) {
      const value = header(name ?? 'authorization');
      if (!value) return rejected('missing-header');
      const token = name === undefined ? /^Bearer +(\S+) *$/i.exec(value)?.[1] : value;
      if (token === undefined) return rejected('malformed-header');
      return anyEqualInConstantTime(secrets, token) ? { ok: true, vendorId: null } : rejected('bad-signature');
    },
    read: (_request, body, delivery) => readJsonDelivery('token', body, delivery, filters),
  };
}
