import { woocommerceSource } from '../../../api/sources/woocommerce.ts';
import { signWoocommerce } from '../signing/woocommerce.ts';
import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';

const read = readerOf('woocommerce');

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

const sent = (topic: string, body: unknown) => read(body, { 'x-wc-webhook-topic': topic });

describe('a WooCommerce delivery', () => {
  test.each(['product.created', 'product.updated', 'product.restored'])('of %s publishes the product', (topic) => {
    expect(sent(topic, product)).toEqual({
      kind: 'publish',
      contentType: 'product',
      paths: ['/product/premium-quality/'],
      event: {
        source: 'woocommerce',
        topic,
        action: 'publish',
        id: '794',
        title: 'Premium Quality',
        url: 'https://shop.example.com/product/premium-quality/',
        author: '',
        at: '2026-11-21T07:59:00.000Z',
      },
    });
  });

  test('of a deleted product has its id alone', () => {
    expect(sent('product.deleted', { id: 794 })).toMatchObject({
      kind: 'publish',
      event: { action: 'unpublish', id: '794', title: '794', at: RECEIVED_AT },
    });
  });

  test('of a product that was hidden takes it away, because nothing tells that it was hidden before', () => {
    const permalink = 'https://shop.example.com/?post_type=product&p=794';
    for (const status of ['draft', 'pending', 'private']) {
      const reading = sent('product.updated', { ...product, status, permalink });
      expect(reading).toMatchObject({ kind: 'publish', event: { action: 'unpublish' } });
      expect(reading).not.toHaveProperty('paths');
    }
  });

  test.each(['product.created', 'product.restored'])('of %s as a draft is listed only', (topic) => {
    const why = 'the product is not published yet';
    expect(sent(topic, { ...product, status: 'draft' })).toEqual({ kind: 'filtered', topic, why });
  });

  test.each(['order.created', 'order.updated', 'customer.updated', 'coupon.deleted'])(
    'of %s is listed only',
    (topic) => {
      expect(sent(topic, { id: 1, status: 'processing' })).toMatchObject({ kind: 'filtered', topic });
    },
  );

  test('of an action that the shop’s owner chose publishes', () => {
    const body = { action: 'woocommerce_rest_insert_product_object', arg: 794 };
    const event = { id: '794', title: 'woocommerce_rest_insert_product_object', action: 'publish' };
    expect(sent('action.woocommerce_rest_insert_product_object', body)).toMatchObject({ kind: 'publish', event });
  });

  test('that WooCommerce could not fill publishes', () => {
    for (const body of [null, [], 'x', {}, { code: 'woocommerce_rest_cannot_view', data: { status: 401 } }]) {
      expect(sent('product.updated', body)).toMatchObject({ kind: 'publish', event: { id: 'delivery-1' } });
    }
  });

  test('is read whatever it holds', () => {
    const keys = ['id', 'arg', 'name', 'status', 'permalink', 'date_modified_gmt', 'action'];
    const topics = ['product.updated', 'product.deleted', 'action.x', 'order.created', '', '.', 'x'];
    expectToReadAnything(
      read,
      keys,
      topics.map((topic) => ({ 'x-wc-webhook-topic': topic })),
    );
  });

  test('is chosen by the product’s path, and without one is taken', () => {
    const chosen = readerOf('woocommerce', { only: { path: '/product/**', topic: 'product.*' } });
    const headers = { 'x-wc-webhook-topic': 'product.updated' };
    expect(chosen(product, headers).kind).toBe('publish');
    expect(chosen({ ...product, permalink: 'https://shop.example.com/hat/' }, headers)).toMatchObject({
      why: 'only.path',
    });
    expect(chosen({ id: 7 }, { 'x-wc-webhook-topic': 'product.deleted' }).kind).toBe('publish');
  });
});

describe('the id of a WooCommerce delivery', () => {
  async function idOf(body: string, deliveryId: string): Promise<unknown> {
    const signed: Record<string, string> = {
      ...signWoocommerce({ secret: 'x', body, path: '/', at: new Date() }),
      'x-wc-webhook-delivery-id': deliveryId,
    };
    const request = { method: 'POST', path: '/', header: (name: string) => signed[name], body: Buffer.from(body) };
    const verification = await woocommerceSource().verify(request, ['x'], new Date());
    return verification.ok && verification.vendorId;
  }

  test('tells two products of one bulk edit apart, which WooCommerce numbers alike, and is the same for a resend', async () => {
    const first = await idOf('{"id":1}', 'd1');
    expect(first).toMatch(/^d1:[0-9a-f]{16}$/);
    expect(await idOf('{"id":1}', 'd1')).toBe(first);
    expect(await idOf('{"id":2}', 'd1')).not.toBe(first);
    expect(await idOf('{"id":1}', 'd2')).not.toBe(first);
  });
});
