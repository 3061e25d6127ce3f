import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { deliveryRetryDelayMs, sendDelivery } from '../../../platform/forge/deliveries/create-dispatcher.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { SECRET, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const HEADERS_RECEIVED = 'undici:request:headers';

describe('sending a webhook', () => {
  let receiver: WebhookReceiver;
  const abort = () => new AbortController();

  beforeEach(async () => {
    receiver = await startWebhookReceiver();
  });
  afterEach(() => receiver.stop());

  const send = (signal: AbortSignal, url = receiver.url) =>
    sendDelivery({ id: '1', event: 'push', bodyJson: '{}' }, { url, secret: SECRET, signal });

  it.each([
    [202, { kind: 'delivered' }],
    [500, { kind: 'failed', permanent: false, error: 'answered 500' }],
    [302, { kind: 'failed', permanent: false, error: 'answered 302' }],
    [401, { kind: 'failed', permanent: false, error: expect.stringContaining('webhook secret') }],
    [404, { kind: 'failed', permanent: false, error: expect.stringContaining('no such site') }],
    [400, { kind: 'failed', permanent: true, error: 'answered 400' }],
    [422, { kind: 'failed', permanent: true, error: 'answered 422' }],
  ])('with the response %i ends as %j, after one request', async (status, attempt) => {
    receiver.answers.push(status);
    expect(await send(abort().signal)).toEqual(attempt);
    expect(receiver.received).toMatchObject([{ event: 'push', id: '1', verified: true }]);
  });

  it('fails if the receiver does not respond in time, or is down', async () => {
    receiver.answers.push('nothing');
    const timeout = abort();
    const sent = send(timeout.signal);
    await waitFor(() => receiver.received.length > 0, { describe: 'arrived' });
    timeout.abort();
    expect(await sent).toMatchObject({ kind: 'failed', error: 'no response in time', permanent: false });
    expect(await send(abort().signal, 'http://127.0.0.1:9/')).toMatchObject({ error: 'ECONNREFUSED' });
  });

  it('succeeds with the status, although the body never ends', async () => {
    receiver.answers.push('half');
    const timeout = abort();
    const cutOff = () => setImmediate(() => timeout.abort());
    subscribe(HEADERS_RECEIVED, cutOff);
    expect(await send(timeout.signal)).toEqual({ kind: 'delivered' });
    unsubscribe(HEADERS_RECEIVED, cutOff);
  });

  it('is retried with exponential back-off, after at most ten minutes', () => {
    expect([1, 2, 3, 10, 11, 500].map(deliveryRetryDelayMs)).toEqual([1_000, 2_000, 4_000, 512_000, 600_000, 600_000]);
  });
});
