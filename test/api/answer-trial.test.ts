import { Client, Connection } from '@temporalio/client';
import { configWith, type RunningApi, startApi } from './running-api.ts';
import { signWoocommerce } from './signing/woocommerce.ts';

const FORM = 'application/x-www-form-urlencoded';

let api: RunningApi;
let connection: Connection;

beforeAll(async () => {
  // Nothing here may come to Temporal, so nothing listens there.
  connection = Connection.lazy({ address: '127.0.0.1:1', connectTimeout: 100 });
  const client = new Client({ connection });
  const webhooks = { woocommerce: { secret: 'shop-secret' }, token: { secret: 'token-secret' } };
  api = await startApi({ client, config: configWith({ shop: { webhooks } }) });
});

afterAll(async () => {
  await api.stop();
  await connection.close();
});

const post = (body: string, headers: Record<string, string> = {}, source = 'woocommerce') =>
  fetch(`${api.url}/webhooks/shop/${source}`, { method: 'POST', headers: { 'content-type': FORM, ...headers }, body });

describe('the form with which WooCommerce tries an address', () => {
  test.each([FORM, `${FORM}; charset=UTF-8`])('is answered 200, the one status that it takes, as %s', async (type) => {
    const answer = await post('webhook_id=12', { 'content-type': type });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ accepted: [] });
  });

  test('is answered so for as long as it stays that form', async () => {
    for (const body of [
      '',
      'webhook_id=',
      'webhook_id=x',
      'webhook_id=1&a=b',
      'a=b',
      ' webhook_id=1',
      `webhook_id=${'1'.repeat(80)}`,
    ]) {
      expect((await post(body)).status).toBe(415);
    }
  });

  test('is not answered so to another source, nor elsewhere', async () => {
    expect((await post('webhook_id=12', {}, 'token')).status).toBe(415);
    expect((await post('webhook_id=12', {}, 'none')).status).toBe(404);
  });

  test('verifies nothing: with a signature, or as JSON, it is a delivery like any other', async () => {
    const signed = signWoocommerce({ secret: 'shop-secret', body: 'webhook_id=12', path: '/', at: new Date() });
    expect((await post('webhook_id=12', { ...signed, 'content-type': FORM })).status).toBe(415);
    expect((await post('webhook_id=12', { 'content-type': 'application/json' })).status).toBe(401);
    expect((await post('webhook_id=12', signed)).status).toBe(400);
  });
});
