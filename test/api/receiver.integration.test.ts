import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { signBody, signContentful, signGithub, signToken } from './signing.ts';

const SECRET = 'hush';
const CONTENTFUL_SECRET = 'c'.repeat(64);

let temporal: TestTemporal;
let api: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  const config = configWith({
    docs: {
      webhooks: {
        token: { secret: SECRET, filters: { event: ['entry.publish', 'entry.unpublish'] } },
        hmac: { secret: SECRET, header: 'X-Signature' },
        github: { secret: SECRET, branch: 'release' },
        contentful: { secret: CONTENTFUL_SECRET },
      },
    },
    bodies: { webhooks: { hmac: { secret: SECRET, header: 'X-Signature' } } },
    unused: { webhooks: { token: { secret: SECRET } } },
  });
  api = await startApi({ client: temporal.client, config });
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
});

function post(path: string, headers: Record<string, string>, body: string | Buffer): Promise<Response> {
  return fetch(api.url + path, { method: 'POST', headers, body });
}

const signed = (body: string | Buffer, contentType?: string) => signBody(SECRET, body, contentType);

describe('an address', () => {
  test.each([
    '/webhooks/nowhere/token',
    '/webhooks/docs/standard',
    '/webhooks/docs/nothing',
    '/webhooks/__proto__/token',
  ])('that names no configured site and source is 404: %s', async (path) => {
    const answer = await post(path, signToken({ secret: SECRET, body: '{}', path, at: new Date() }), '{}');
    expect([answer.status, await answer.json()]).toEqual([404, { error: 'no such site or source' }]);
  });

  test.each(['/webhooks/docs/constructor', '/webhooks/toString/token', '/', '/webhooks', '/webhooks/docs', '/nothing'])(
    'outside the surface is 404 with an error body: %s',
    async (path) => {
      const answer = await post(path, {}, '{}');
      expect([answer.status, await answer.json()]).toEqual([404, { error: expect.any(String) }]);
    },
  );

  test.each([
    ['GET', '/webhooks/docs/token', 'POST'],
    ['PUT', '/webhooks/docs/token', 'POST'],
    ['DELETE', '/webhooks/docs/token', 'POST'],
    ['POST', '/sites', 'GET, HEAD'],
    ['POST', '/sites/docs', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/readyz', 'GET, HEAD'],
    ['POST', '/metrics', 'GET, HEAD'],
  ])('asked with %s %s is 405 and says what is allowed', async (method, path, allowed) => {
    const answer = await fetch(api.url + path, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed]);
    expect(await answer.json()).toEqual({ error: `expected ${allowed.replace(', ', ' or ')}` });
  });

  test('that is no text is 400', async () => {
    const answer = await fetch(`${api.url}/sites/%ff`, { headers: { authorization: 'Bearer x' } });
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'bad request' }]);
  });
});

describe('an event that does not publish', () => {
  const at = () => new Date();

  test.each([
    ['a push to another branch', 'push', { ref: 'refs/heads/main' }],
    ['a push of a tag of that name', 'push', { ref: 'refs/tags/release' }],
    ['the deletion of the branch', 'push', { ref: 'refs/heads/release', deleted: true }],
    ['a pull request', 'pull_request', { action: 'opened' }],
    ['a review', 'pull_request_review', { action: 'submitted' }],
    ['a ping', 'ping', { zen: 'Keep it simple.' }],
  ])('from GitHub is accepted as filtered: %s', async (_, event, payload) => {
    const body = JSON.stringify(payload);
    const headers = await signGithub({ secret: SECRET, body, path: '', at: at() }, event);
    const answer = await post('/webhooks/docs/github', headers, body);
    expect([answer.status, await answer.json()]).toEqual([
      202,
      { deliveryId: headers['x-github-delivery'], accepted: [] },
    ]);
  });

  test.each(['Entry.save', 'Entry.auto_save', 'Entry.archive', 'Asset.create', 'Task.create'])(
    'from Contentful is accepted as filtered: %s',
    async (topic) => {
      const path = '/webhooks/docs/contentful';
      const headers = signContentful({ secret: CONTENTFUL_SECRET, body: '{}', path, at: at() }, topic);
      const answer = await post(path, headers, '{}');
      expect([answer.status, await answer.json()]).toEqual([202, expect.objectContaining({ accepted: [] })]);
    },
  );

  test.each(['Entry.publish', 'Entry.unpublish', 'Entry.delete', 'Asset.publish', 'ContentType.publish'])(
    'is not: Contentful %s',
    async (topic) => {
      const path = '/webhooks/docs/contentful';
      const headers = signContentful({ secret: CONTENTFUL_SECRET, body: '{}', path, at: at() }, topic);
      const answer = await post(`${path}?not=signed`, headers, '{}');
      expect([answer.status, await answer.json()]).toEqual([
        202,
        expect.objectContaining({ accepted: ['export:docs'] }),
      ]);
    },
  );

  test.each([
    ['entry.publish', ['export:docs']],
    ['entry.update', []],
    [undefined, []],
  ])('is told by the filters of the site: %s', async (event, accepted) => {
    const body = JSON.stringify({ event, entry: { id: 7 } });
    const answer = await post('/webhooks/docs/token', signToken({ secret: SECRET, body, path: '', at: at() }), body);
    expect([answer.status, await answer.json()]).toEqual([202, expect.objectContaining({ accepted })]);
  });

  test('is 400 when a push names no ref', async () => {
    const headers = await signGithub({ secret: SECRET, body: '{"after":"x"}', path: '', at: at() });
    const answer = await post('/webhooks/docs/github', headers, '{"after":"x"}');
    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringContaining('field ref') }]);
  });
});

describe('the service', () => {
  test('is alive, ready when Temporal is, and says so otherwise', async () => {
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    const apart = await startApi({ client: temporal.client, config: configWith({}), temporalReady: async () => false });
    try {
      const answer = await fetch(`${apart.url}/readyz`);
      expect([answer.status, await answer.json()]).toEqual([503, { error: 'Temporal can not be reached' }]);
      expect((await fetch(`${apart.url}/healthz`)).status).toBe(200);
    } finally {
      await apart.stop();
    }
  });

  test('numbers every answer, takes over a plain id that came along, and no other', async () => {
    const idFor = async (asked: string) =>
      (await fetch(`${api.url}/healthz`, { headers: { 'x-request-id': asked } })).headers.get('x-request-id');
    expect(await idFor('abc-1.2_3')).toBe('abc-1.2_3');
    expect(await idFor('a b<script>')).toMatch(/^[0-9a-f-]{36}$/);
    expect((await fetch(`${api.url}/nothing`)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('tells nothing of what it is built with', async () => {
    const { headers } = await fetch(`${api.url}/healthz`);
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('counts deliveries, rejects and signals', async () => {
    const body = JSON.stringify({ event: 'counted' });
    await post('/webhooks/unused/token', signToken({ secret: SECRET, body, path: '', at: new Date() }), body);
    await post('/webhooks/unused/token', { 'content-type': 'application/json', authorization: 'Bearer no' }, body);
    await post('/webhooks/unused/token', { 'content-type': 'text/plain' }, body);
    const text = await (await fetch(`${api.url}/metrics`)).text();
    expect(text).toContain('galley_webhook_deliveries_total{site="unused",source="token",outcome="accepted"} 1');
    expect(text).toMatch(/galley_webhook_rejects_total\{site="unused",source="token",reason="bad-signature"\} [1-9]/);
    expect(text).toMatch(/galley_webhook_rejects_total\{site="unused",source="token",reason="status-415"\} [1-9]/);
    expect(text).toMatch(/galley_signal_seconds_count\{outcome="acknowledged"\} [1-9]/);
    expect(text).toContain('galley_webhook_queue_size 0');
  });
});

describe('the workflow of a site', () => {
  test('is started by its first delivery with a name and a summary for whoever looks at it', async () => {
    const body = JSON.stringify({ title: 'Hello' });
    await post('/webhooks/bodies/hmac', signed(body), body);
    const description = await temporal.client.workflow.getHandle('export:bodies').describe();
    expect(description).toMatchObject({
      type: 'exportSite',
      taskQueue: 'galley-orchestrator',
      memo: { site: 'bodies', domain: 'bodies.example.com' },
    });
    expect(await description.staticSummary()).toBe('Keeps bodies.example.com exported and deployed');
  });

  test('is signalled with the delivery, how long a resend counts as one, and the event', async () => {
    const body = JSON.stringify({ event: 'entry.publish', entry: { id: 7, title: 'Hello', url: 'https://a.b/c' } });
    const before = Date.now();
    await post('/webhooks/docs/token', signToken({ secret: SECRET, body, path: '', at: new Date() }), body);
    const signal = (await publishedSignals(temporal.client, 'docs')).at(-1);
    expect(signal).toMatchObject({
      deliveries: [{ id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), source: 'token', dedupeMs: 60_000 }],
      newest: {
        source: 'token',
        topic: 'entry.publish',
        action: 'publish',
        id: '7',
        title: 'Hello',
        url: 'https://a.b/c',
      },
    });
    expect(Date.parse(signal?.deliveries[0]?.receivedAt ?? '')).toBeGreaterThanOrEqual(before);
  });

  test('carries its site as a search attribute where the namespace has it', async () => {
    const config = configWith({ found: { webhooks: { hmac: { secret: SECRET, header: 'X-Signature' } } } });
    const apart = await startApi({ client: temporal.client, config, searchAttributesReady: () => true });
    try {
      const headers = signed('{}');
      const answer = await fetch(`${apart.url}/webhooks/found/hmac`, { method: 'POST', headers, body: '{}' });
      expect(answer.status).toBe(202);
      const { searchAttributes } = await temporal.client.workflow.getHandle('export:found').describe();
      expect(searchAttributes).toMatchObject({ GalleySite: ['found'] });
    } finally {
      await apart.stop();
    }
  });
});
