import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { signContentful, signGithub, signToken } from './signing.ts';

const SECRET = 'hush';
const CONTENTFUL_SECRET = 'c'.repeat(64);

let temporal: TestDevServer;
let api: RunningApi;

beforeAll(async () => {
  temporal = await startDevServer();
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

function signed(body: string | Buffer, contentType = 'application/json'): Record<string, string> {
  return { 'content-type': contentType, 'x-signature': createHmac('sha256', SECRET).update(body).digest('hex') };
}

const postSigned = (body: string | Buffer, contentType?: string) =>
  post('/webhooks/bodies/hmac', signed(body, contentType), body);

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

describe('a body', () => {
  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json; charset=utf-16',
    'application/xml',
    '',
  ])('of the content type "%s" is 415', async (type) => {
    const answer = await postSigned('{}', type);
    expect([answer.status, await answer.json()]).toEqual([
      415,
      { error: 'expected the content type application/json' },
    ]);
  });

  test.each([
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON',
    'application/vnd.contentful.management.v1+json',
    'application/cloudevents+json; profile=x',
  ])('of the content type %s is read', async (type) => {
    expect((await postSigned(JSON.stringify({ type }), type)).status).toBe(202);
  });

  test('that is compressed is 415', async () => {
    const answer = await post('/webhooks/bodies/hmac', { ...signed('{}'), 'content-encoding': 'gzip' }, '{}');
    expect(answer.status).toBe(415);
  });

  test('of exactly 1 MiB is accepted, one byte more is 413', async () => {
    const body = (sizeBytes: number) => `"${'x'.repeat(sizeBytes - 2)}"`;
    expect((await postSigned(body(1024 * 1024))).status).toBe(202);
    const answer = await postSigned(body(1024 * 1024 + 1));
    expect([answer.status, await answer.json()]).toEqual([413, { error: 'the body is larger than 1 MiB' }]);
  });

  test('that grows past 1 MiB without saying so at first is 413', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const head = 'POST /webhooks/bodies/hmac HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    for (let count = 0; count < 20; count += 1) socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`);
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['half an object', '{"a":'],
    ['words', 'hello'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
    ['a byte order that is not UTF-8', Buffer.from('\ufeff{}', 'utf16le')],
  ])('of %s is 400 although it is signed', async (_, body) => {
    const answer = await postSigned(body);
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'expected JSON in UTF-8' }]);
  });

  test('nested a hundred thousand deep is accepted', async () => {
    expect((await postSigned('['.repeat(100_000) + ']'.repeat(100_000))).status).toBe(202);
    expect((await postSigned(`${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}`)).status).toBe(202);
  });

  test('with keys that every object inherits neither pollutes nor is read by them', async () => {
    const body =
      '{"__proto__":{"title":"from the prototype","polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    expect((await postSigned(body)).status).toBe(202);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    const signals = await publishedSignals(temporal.client, 'bodies');
    expect(signals.at(-1)?.newest.title).not.toContain('prototype');
  });

  test('of any JSON at all is accepted when it is signed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (body) => {
        expect((await postSigned(body)).status).toBe(202);
      }),
      { numRuns: 30 },
    );
  });

  test('that is never sent leaves the others served', async () => {
    const { hostname, port } = new URL(api.url);
    const slow = connect(Number(port), hostname);
    slow.write(
      `POST /webhooks/bodies/hmac HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    expect((await postSigned('{"served":true}')).status).toBe(202);
    slow.destroy();
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
