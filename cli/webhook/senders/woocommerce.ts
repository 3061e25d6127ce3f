import { createHmac } from 'node:crypto';
import type { Sender, TestEvent } from '../sender.ts';

/** https://woocommerce.github.io/woocommerce-rest-api-docs/#webhooks; the headers are those of WC_Webhook. */
export const woocommerceSender: Sender = {
  sample,
  headers: ({ id, body, secret }) => ({
    'x-wc-webhook-source': 'https://shop.example.com/',
    'x-wc-webhook-topic': 'product.updated',
    'x-wc-webhook-resource': 'product',
    'x-wc-webhook-event': 'updated',
    'x-wc-webhook-signature': createHmac('sha256', secret).update(body).digest('base64'),
    'x-wc-webhook-id': '1',
    'x-wc-webhook-delivery-id': id,
  }),
};

function sample({ number, title, slug, url, at }: TestEvent): Record<string, unknown> {
  // WordPress writes times without a zone, and those in UTC under a name of their own.
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
}
