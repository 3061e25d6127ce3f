import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { signToken } from './sources/vendors/token.ts';

const SECRET = 'hush-hush';

let temporal: TestTemporal;
let api: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  const webhooks = { token: { secret: SECRET } };
  const config = configWith({ docs: { webhooks }, forged: { webhooks } });
  api = await startApi({ client: temporal.client, config, searchAttributesReady: () => true });
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
});

const deliver = (site: string, body: object, secret = SECRET) => {
  const text = JSON.stringify(body);
  const headers = signToken({ secret, body: text, path: '', at: new Date() });
  return fetch(`${api.url}/webhooks/${site}/token`, { method: 'POST', headers, body: text });
};

test('the first delivery starts the workflow of its site, with a memo, a summary and a search attribute', async () => {
  expect((await deliver('docs', { title: 'Hello' })).status).toBe(202);
  const description = await temporal.client.workflow.getHandle('export:docs').describe();
  expect(description).toMatchObject({
    type: 'exportSite',
    taskQueue: 'galley-orchestrator',
    memo: { site: 'docs', domain: 'docs.example.com' },
    searchAttributes: { GalleySite: ['docs'] },
  });
  expect(await description.staticSummary()).toBe('Keeps docs.example.com exported and deployed');
});

test('a delivery is stored in Temporal with its event before the response', async () => {
  const before = Date.now();
  const entry = { id: 7, title: 'Hello', url: 'https://a.b/c' };
  const response = await deliver('docs', { event: 'entry.publish', entry });
  const [signal] = (await publishedSignals(temporal.client, 'docs')).slice(-1);
  expect(await response.json()).toEqual({ deliveryId: signal?.deliveries[0]?.id, accepted: ['export:docs'] });
  expect(signal).toMatchObject({
    deliveries: [{ source: 'token', dedupeMs: 0, byBody: true }],
    newest: {
      ...{ source: 'token', topic: 'entry.publish', action: 'publish' },
      ...{ id: '7', title: 'Hello', url: 'https://a.b/c' },
    },
  });
  expect(Date.parse(signal?.deliveries[0]?.receivedAt ?? '')).toBeGreaterThanOrEqual(before);
});

test('a delivery with a bad signature is 401 and starts nothing', async () => {
  expect((await deliver('forged', { title: 'Hello' }, 'another')).status).toBe(401);
  await expect(temporal.client.workflow.getHandle('export:forged').describe()).rejects.toThrow('not found');
});
