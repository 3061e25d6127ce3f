import { createHash, createHmac, randomUUID } from 'node:crypto';
import {
  RECEIVED_AT,
  type SignedHeaders,
  type SignInput,
  type SourceCases,
  secretsOf,
  type Vendor,
} from '../vendor.ts';

/** As WC_Webhook::deliver of the plugin writes them. */
export function signWoocommerce({ secret, body }: SignInput, topic = 'product.updated'): SignedHeaders {
  const [resource = '', event = ''] = topic.split('.');
  return {
    'content-type': 'application/json',
    'x-wc-webhook-source': 'https://shop.example.com/',
    'x-wc-webhook-topic': topic,
    'x-wc-webhook-resource': resource,
    'x-wc-webhook-event': event,
    'x-wc-webhook-signature': createHmac('sha256', secret).update(body).digest('base64'),
    'x-wc-webhook-id': '7',
    'x-wc-webhook-delivery-id': createHash('md5').update(randomUUID()).digest('hex'),
  };
}

/** Galley's delivery id. WooCommerce uses the same id for all deliveries of a webhook in one second. */
export function woocommerceId(headers: SignedHeaders, body: string): string {
  const bodyHash = createHash('sha256').update(body).digest('hex').slice(0, 16);
  return `${headers['x-wc-webhook-delivery-id']}:${bodyHash}`;
}

const product = {
  id: 794,
  name: 'Premium Quality',
  slug: 'premium-quality',
  permalink: 'https://shop.example.com/product/premium-quality/',
  date_created: '2026-11-20T15:00:00',
  date_created_gmt: '2026-11-20T14:00:00',
  date_modified: '2026-11-21T08:59:00',
  date_modified_gmt: '2026-11-21T07:59:00',
  type: 'simple',
  status: 'publish',
};
const hidden = { ...product, permalink: 'https://shop.example.com/?post_type=product&p=794' };
const topic = (name: string) => ({ 'x-wc-webhook-topic': name });
const ACTION = 'woocommerce_rest_insert_product_object';

const cases: SourceCases = {
  example: [
    product,
    {
      contentType: 'product',
      paths: ['/product/premium-quality/'],
      event: {
        topic: 'product.updated',
        id: '794',
        title: 'Premium Quality',
        url: product.permalink,
        at: '2026-11-21T07:59:00.000Z',
      },
    },
    topic('product.updated'),
  ],
  publishes: [
    ['a new product', product, { event: { topic: 'product.created', action: 'publish' } }, topic('product.created')],
    [
      'a restored product',
      product,
      { event: { topic: 'product.restored', action: 'publish' } },
      topic('product.restored'),
    ],
    [
      'a deleted product, of which only the id is sent',
      { id: 794 },
      { paths: undefined, event: { action: 'unpublish', id: '794', title: '794', at: RECEIVED_AT } },
      topic('product.deleted'),
    ],
    ...['draft', 'pending', 'private'].map((status): SourceCases['publishes'][number] => [
      `a product that is ${status}, because it may have been visible before`,
      { ...hidden, status },
      { paths: undefined, event: { action: 'unpublish' } },
      topic('product.updated'),
    ]),
    [
      'an action that the shop chose',
      { action: ACTION, arg: 794 },
      { event: { id: '794', title: ACTION, action: 'publish' } },
      topic(`action.${ACTION}`),
    ],
  ],
  filtered: [
    ...['product.created', 'product.restored'].map((name): SourceCases['filtered'][number] => [
      `${name} of a draft`,
      { ...product, status: 'draft' },
      name,
      'the product is not published yet',
      topic(name),
    ]),
    ...['order.created', 'order.updated', 'customer.updated', 'coupon.deleted'].map(
      (name): SourceCases['filtered'][number] => [
        name,
        { id: 1, status: 'processing' },
        name,
        `the topic publishes nothing: ${name.split('.')[0]}`,
        topic(name),
      ],
    ),
  ],
  unknown: {
    bodies: [null, [], 'x', {}, { code: 'woocommerce_rest_cannot_view', data: { status: 401 } }],
    headers: topic('product.updated'),
  },
  keys: ['id', 'arg', 'name', 'status', 'permalink', 'date_modified_gmt', 'action'],
  keyHeaders: ['product.updated', 'product.deleted', 'action.x', 'order.created', '', '.', 'x'].map(topic),
};

export const vendor: Vendor = {
  secrets: secretsOf('woocommerce'),
  scheme: {
    sign: (input) => signWoocommerce(input),
    signature: 'x-wc-webhook-signature',
    required: ['x-wc-webhook-topic', 'x-wc-webhook-delivery-id'],
    signsBody: true,
    idOf: woocommerceId,
  },
  cases,
};
