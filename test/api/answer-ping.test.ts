import { configWith, startRecordingApi } from './running-api.ts';
import { signWoocommerce } from './sources/vendors/woocommerce.ts';

const FORM = 'application/x-www-form-urlencoded';

const webhooks = { woocommerce: { secret: 'shop-secret' }, token: { secret: 'token-secret' } };
const api = await startRecordingApi(configWith({ shop: { webhooks } }));

afterAll(async () => {
  expect(api.sent).toEqual([]);
  await api.stop();
});

const post = (body: string, headers: Record<string, string> = {}, source = 'woocommerce') =>
  fetch(`${api.url}/webhooks/shop/${source}`, { method: 'POST', headers: { 'content-type': FORM, ...headers }, body });

describe('the form with which WooCommerce pings a webhook', () => {
  test.each([FORM, `${FORM}; charset=UTF-8`])(
    'is 200, as WooCommerce requires, with the content type %s',
    async (type) => {
      const response = await post('webhook_id=12', { 'content-type': type });
      expect([response.status, await response.json()]).toEqual([200, { accepted: [] }]);
    },
  );

  test.each([
    '',
    'webhook_id=',
    'webhook_id=x',
    'webhook_id=1&a=b',
    'a=b',
    ' webhook_id=1',
    `webhook_id=${'1'.repeat(80)}`,
  ])('is 415 if it is another form: "%s"', async (body) => {
    expect((await post(body)).status).toBe(415);
  });

  test.each([
    ['token', 415],
    ['none', 404],
  ])('is not accepted by the source %s', async (source, status) => {
    expect((await post('webhook_id=12', {}, source)).status).toBe(status);
  });

  test('with a signature or as JSON is a delivery like any other', async () => {
    const signed = signWoocommerce({ secret: 'shop-secret', body: 'webhook_id=12', path: '/', at: new Date() });
    expect((await post('webhook_id=12', { ...signed, 'content-type': FORM })).status).toBe(415);
    expect((await post('webhook_id=12', { 'content-type': 'application/json' })).status).toBe(401);
    expect((await post('webhook_id=12', signed)).status).toBe(400);
  });
});
