import { createHash } from 'node:crypto';
import { field, firstInstant, firstText, readLink, readText } from './json-fields.ts';
import { pathsOf, published } from './published.ts';
import { anyEqualInConstantTime, hmacOf } from './signature.ts';
import { rejected, type WebhookSource } from './source.ts';
import { HIDDEN } from './wordpress.ts';

const HEADERS = {
  signature: 'x-wc-webhook-signature',
  topic: 'x-wc-webhook-topic',
  deliveryId: 'x-wc-webhook-delivery-id',
} as const;

/** What a shop's webhooks tell beside its content. */
const NO_CONTENT = new Set(['order', 'customer', 'coupon']);

/**
 * WooCommerce (class-wc-webhook.php of its plugin): the body under HMAC-SHA256, base64. No time is signed. Products and
 * the shop's own actions publish; orders, customers and coupons are listed.
 */
export function woocommerceSource(): WebhookSource {
  return {
    verify({ header, body }, secrets) {
      const [signature, topic, deliveryId] = [HEADERS.signature, HEADERS.topic, HEADERS.deliveryId].map(header);
      if (!signature || !topic || !deliveryId) return rejected('missing-header');
      const expected = secrets.map((secret) => hmacOf('sha256', secret, [body], 'base64'));
      if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
      // WooCommerce makes the id from the webhook and the second, so a bulk edit sends several bodies under one id.
      const bodyHash = createHash('sha256').update(body).digest('hex').slice(0, 16);
      return { ok: true, vendorId: `${deliveryId}:${bodyHash}` };
    },
    read({ header }, body, delivery) {
      const topic = readText(header(HEADERS.topic)) ?? '';
      const [resource = '', happened] = topic.split('.');
      if (NO_CONTENT.has(resource)) return { kind: 'filtered', topic, why: `the topic publishes nothing: ${resource}` };
      const hidden = HIDDEN.has(readText(field(body, 'status')) ?? '');
      if (hidden && (happened === 'created' || happened === 'restored')) {
        return { kind: 'filtered', topic, why: 'the product is not published yet' };
      }
      const url = readLink(field(body, 'permalink'));
      return published(
        {
          source: 'woocommerce',
          topic,
          // An update doesn't tell the state before it: a product that is hidden now may just have left the shop.
          action: happened === 'deleted' || hidden ? 'unpublish' : 'publish',
          id: firstText(field(body, 'id'), field(body, 'arg')),
          title: firstText(field(body, 'name'), field(body, 'action')),
          url,
          at: firstInstant(field(body, 'date_modified_gmt'), field(body, 'date_created_gmt')),
          contentType: resource === 'action' ? undefined : resource,
          paths: pathsOf(url),
        },
        delivery,
      );
    },
    isTrial({ header, body }) {
      return header(HEADERS.signature) === undefined && /^webhook_id=\d{1,20}$/.test(body.toString('latin1'));
    },
  };
}
