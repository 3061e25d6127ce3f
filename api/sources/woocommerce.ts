import { sha256Hex } from '../../base/sha256.ts';
import { field, firstInstant, firstText, readLink, readText } from '../webhooks/json-fields.ts';
import { anyEqualInConstantTime, hmacOf } from '../webhooks/signature.ts';
import { defineSource, pathsOf, plainSettings, published, rejected } from '../webhooks/source.ts';
import { HIDDEN } from './wordpress.ts';

const HEADERS = {
  signature: 'x-wc-webhook-signature',
  topic: 'x-wc-webhook-topic',
  deliveryId: 'x-wc-webhook-delivery-id',
} as const;

/** Resources of a shop that no page shows. */
const NO_CONTENT = new Set(['order', 'customer', 'coupon']);

/**
 * WooCommerce (class-wc-webhook.php of its plugin): the body under HMAC-SHA256, base64. No time is signed. Products and
 * the shop's own actions publish; orders, customers and coupons are filtered.
 */
export const source = defineSource({
  settings: plainSettings,

  verify({ header, body }, { secrets }) {
    const [signature, topic, deliveryId] = [HEADERS.signature, HEADERS.topic, HEADERS.deliveryId].map(header);
    if (!signature || !topic || !deliveryId) return rejected('missing-header');
    const expected = secrets.map((secret) => hmacOf('sha256', secret, [body], 'base64'));
    if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
    // The id is made from the webhook and the second, so a bulk edit sends several bodies with one id.
    const bodyHash = sha256Hex(body).slice(0, 16);
    return { ok: true, vendorId: `${deliveryId}:${bodyHash}` };
  },

  parse(delivery) {
    const { body, header } = delivery;
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
        topic,
        // An update doesn't include the previous state: a hidden product may have been visible until now.
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

  isPing({ header, body }) {
    return header(HEADERS.signature) === undefined && /^webhook_id=\d{1,20}$/.test(body.toString('latin1'));
  },

  sample({ number, title, slug, url, at }) {
    // WordPress writes times without a zone; the `_gmt` ones are in UTC.
    const time = at.toISOString().slice(0, 19);
    return {
      id: number,
      name: title,
      slug,
      permalink: url,
      date_created: time,
      date_created_gmt: time,
      date_modified: time,
      date_modified_gmt: time,
      type: 'simple',
      status: 'publish',
      catalog_visibility: 'visible',
      description: title,
    };
  },

  sign: ({ id, body, secret }) => ({
    headers: {
      'x-wc-webhook-source': 'https://shop.example.com/',
      [HEADERS.topic]: 'product.updated',
      'x-wc-webhook-resource': 'product',
      'x-wc-webhook-event': 'updated',
      [HEADERS.signature]: hmacOf('sha256', secret, [body], 'base64'),
      'x-wc-webhook-id': '1',
      [HEADERS.deliveryId]: id,
    },
  }),
});
