import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { SignedHeaders, SignInput } from '../signing.ts';

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

/** The id under which we keep it: WooCommerce gives every delivery of one webhook in one second the same. */
export function woocommerceId(headers: SignedHeaders, body: string): string {
  const bodyHash = createHash('sha256').update(body).digest('hex').slice(0, 16);
  return `${headers['x-wc-webhook-delivery-id']}:${bodyHash}`;
}
