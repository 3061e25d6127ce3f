import { createHash } from 'node:crypto';
import express from 'express';
import { pino } from 'pino';
import { errorHandler } from '../../api/http-edge.ts';
import { serve } from '../../programs/process/serve.ts';
import { signContentful } from '../helpers/sign-contentful.ts';
import { configWith, OPERATOR_TOKEN, startRecordingApi } from './running-api.ts';
import type { SignedHeaders } from './sources/vendor.ts';
import { signGithub } from './sources/vendors/github.ts';
import { withPrismicSecret } from './sources/vendors/prismic.ts';
import { signToken } from './sources/vendors/token.ts';

const SECRET = 'hush-hush';
const CONTENTFUL_SECRET = 'c'.repeat(64);
const DAY_MS = 24 * 3_600_000;
const JSON_TYPE = { 'content-type': 'application/json' };

const config = configWith({
  docs: {
    webhooks: {
      token: { secret: SECRET, filters: { event: ['entry.publish', 'entry.unpublish'] } },
      github: { secret: SECRET, branch: 'release' },
      contentful: { secret: CONTENTFUL_SECRET },
      prismic: { secret: SECRET },
    },
  },
  patient: { webhooks: { prismic: { secret: SECRET, answer: 200 } } },
  counted: { webhooks: { token: { secret: SECRET } } },
});

const api = await startRecordingApi(config);

afterAll(() => api.stop());

function post(path: string, headers: SignedHeaders, body: string): Promise<Response> {
  return fetch(api.url + path, { method: 'POST', headers, body });
}

const signed = (body: string, path = '/') => ({ secret: SECRET, body, path, at: new Date() });
const postToken = (body: object, site = 'docs') => {
  const text = JSON.stringify(body);
  return post(`/webhooks/${site}/token`, signToken(signed(text)), text);
};

describe('a path', () => {
  test.each([
    '/webhooks/nowhere/token',
    '/webhooks/docs/standard',
    '/webhooks/docs/nothing',
    '/webhooks/__proto__/token',
    '/webhooks/docs/constructor',
    '/webhooks/toString/token',
  ])('that names no configured site and source is 404: %s', async (path) => {
    const response = await post(path, signToken(signed('{}', path)), '{}');
    expect([response.status, await response.json()]).toEqual([404, { error: 'no such site or source' }]);
  });

  test.each(['/webhooks', '/webhooks/docs', '/nothing'])('that is unknown is 404: %s', async (path) => {
    const response = await post(path, {}, '{}');
    expect([response.status, await response.json()]).toEqual([404, { error: 'not found' }]);
  });

  test.each([
    ['GET', '/webhooks/docs/token', 'POST'],
    ['PUT', '/webhooks/docs/token', 'POST'],
    ['DELETE', '/webhooks/docs/token', 'POST'],
    ['POST', '/sites', 'GET, HEAD'],
    ['POST', '/sites/docs', 'GET, HEAD, DELETE'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/readyz', 'GET, HEAD'],
    ['POST', '/metrics', 'GET, HEAD'],
    ['DELETE', '/unsubscribe/docs/rule/address/token', 'GET, HEAD, POST'],
  ])('requested with %s %s is 405 and lists the allowed methods', async (method, path, allowed) => {
    const response = await fetch(api.url + path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
    expect(await response.json()).toEqual({ error: `expected ${allowed.replaceAll(', ', ' or ')}` });
  });

  test('that is not UTF-8 is 400', async () => {
    const response = await fetch(`${api.url}/sites/%ff`, { headers: { authorization: 'Bearer x' } });
    expect([response.status, await response.json()]).toEqual([400, { error: 'bad request' }]);
  });
});

describe('an accepted delivery', () => {
  test("is deduplicated by its sender's id for as long as the sender may repeat it", async () => {
    const body = JSON.stringify({ ref: 'refs/heads/release' });
    const headers = await signGithub(signed(body));
    const id = headers['x-github-delivery'];
    const response = await post('/webhooks/docs/github', headers, body);
    expect([response.status, await response.json()]).toEqual([202, { deliveryId: id, accepted: ['export:docs'] }]);
    expect(api.published().at(-1)?.deliveries).toMatchObject([{ id, source: 'github', dedupeMs: 3 * DAY_MS }]);
  });

  test('without a delivery id is identified by the hash of its body', async () => {
    const body = { event: 'entry.publish', title: 'Grüße' };
    const id = `sha256:${createHash('sha256').update(JSON.stringify(body)).digest('hex')}`;
    expect(await (await postToken(body)).json()).toEqual({ deliveryId: id, accepted: ['export:docs'] });
    expect(api.published().at(-1)?.deliveries).toMatchObject([{ id, source: 'token', dedupeMs: 0, byBody: true }]);
  });

  test('keeps the secret in a Prismic body out of the id, the signal, the log and the response', async () => {
    const response = await post('/webhooks/docs/prismic', JSON_TYPE, withPrismicSecret(SECRET));
    const text = await response.text();
    const rest = withPrismicSecret(null, { secret: undefined });
    const deliveryId = `sha256:${createHash('sha256').update(rest).digest('hex')}`;
    expect(JSON.parse(text)).toEqual({ deliveryId, accepted: ['export:docs'] });
    expect([text, JSON.stringify(api.sent), ...api.log].join()).not.toContain('hush');
  });

  test('is 200 if the site is configured so, because Prismic treats any other status as a failure', async () => {
    const response = await post('/webhooks/patient/prismic', JSON_TYPE, withPrismicSecret(SECRET));
    expect([response.status, await response.json()]).toMatchObject([200, { accepted: ['export:patient'] }]);
    const configure = (status: number) => () =>
      configWith({ docs: { webhooks: { prismic: { secret: 'x', answer: status } } } });
    expect(configure(201)).toThrow(/expected 200 or 202/);
    expect(configure(202)).not.toThrow();
  });

  test('is verified with its path without the query', async () => {
    const path = '/webhooks/docs/contentful';
    const headers = signContentful({ ...signed('{}', path), secret: CONTENTFUL_SECRET });
    expect((await post(`${path}?not=signed`, headers, '{}')).status).toBe(202);
  });

  test.each([
    ['entry.publish', ['export:docs']],
    ['entry.update', []],
    [undefined, []],
  ])('is filtered unless it matches the filters of the site: %s', async (event, accepted) => {
    const response = await postToken({ event, entry: { id: 7 } });
    expect([response.status, await response.json()]).toMatchObject([202, { accepted }]);
  });
});

describe('a rejected delivery', () => {
  test('is 401 without the reason, which is only logged, and signals nothing', async () => {
    const before = api.sent.length;
    const body = '{"body":"private"}';
    const headers = { ...JSON_TYPE, authorization: 'Bearer nonsense', 'x-request-id': 'find-me' };
    const response = await post('/webhooks/docs/token?key=in-the-query', headers, body);
    expect([response.status, await response.json()]).toEqual([401, { error: 'the delivery could not be verified' }]);
    expect(response.headers.get('x-request-id')).toBe('find-me');
    expect(JSON.parse(api.log.find((line) => line.includes('find-me')) ?? '{}')).toMatchObject({
      msg: 'A delivery was rejected',
      site: 'docs',
      source: 'token',
      reason: 'bad-signature',
    });
    expect(api.log.join()).not.toMatch(/private|nonsense|in-the-query|hush/);
    expect(api.sent).toHaveLength(before);
  });

  test('is 400 if it is a push without a ref', async () => {
    const response = await post('/webhooks/docs/github', await signGithub(signed('{"after":"x"}')), '{"after":"x"}');
    expect([response.status, await response.json()]).toEqual([400, { error: expect.stringContaining('field ref') }]);
  });

  test('to an unknown path is logged with the site and source from the path', async () => {
    expect((await post('/webhooks/refusd/token?secret=x', JSON_TYPE, '{}')).status).toBe(404);
    const line = api.log.find((each) => each.includes('refusd'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ site: 'refusd', source: 'token', reason: 'unknown-address' });
  });
});

describe('the metrics', () => {
  test('count deliveries, repeats, rejects and signals, and describe the process', async () => {
    await postToken({ id: 'counted' }, 'counted');
    await postToken({ id: 'counted' }, 'counted');
    const path = '/webhooks/counted/token';
    await post(path, { ...JSON_TYPE, authorization: 'Bearer no' }, '{}');
    await post(path, JSON_TYPE, '{}');
    await post(path, { 'content-type': 'text/plain' }, '{}');
    await post(path, signToken(signed('')), 'no JSON');
    const text = await (await fetch(`${api.url}/metrics`)).text();
    const labels = 'site="counted",source="token"';
    expect(text).toContain(`galley_webhook_deliveries_total{${labels},outcome="accepted"} 2`);
    expect(text).toContain(`galley_webhook_repeats_total{${labels}} 1`);
    for (const reason of ['bad-signature', 'missing-header', 'status-415', 'status-400']) {
      expect(text).toContain(`galley_webhook_rejects_total{${labels},reason="${reason}"} 1`);
    }
    expect(text).toMatch(/galley_webhook_rejects_total\{site="any",source="any",reason="status-404"\} [1-9]/);
    expect(text).toMatch(/galley_signal_seconds_count\{outcome="acknowledged"\} [1-9]/);
    expect(text).toContain('galley_webhook_queue_size 0');
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds', 'nodejs_heap_size_used']) {
      expect(text).toMatch(new RegExp(`^${name}\\S* \\d`, 'm'));
    }
  });
});

describe('the service', () => {
  test('is always alive, and ready only if Temporal is', async () => {
    const statuses = async (url: string) =>
      await Promise.all(['healthz', 'readyz'].map(async (path) => (await fetch(`${url}/${path}`)).status));
    expect(await statuses(api.url)).toEqual([200, 200]);
    const withoutTemporal = await startRecordingApi(config, {}, { temporalReady: async () => false });
    expect(await statuses(withoutTemporal.url)).toEqual([200, 503]);
    expect(await (await fetch(`${withoutTemporal.url}/readyz`)).json()).toEqual({
      error: 'Temporal can not be reached',
    });
    await withoutTemporal.stop();
  });

  test('gives every response a request id, and keeps a valid one of the request', async () => {
    const idFor = async (requested: string) =>
      (await fetch(`${api.url}/healthz`, { headers: { 'x-request-id': requested } })).headers.get('x-request-id');
    expect(await idFor('abc-1.2_3')).toBe('abc-1.2_3');
    expect(await idFor('a b<script>')).toMatch(/^[0-9a-f-]{36}$/);
    expect((await fetch(`${api.url}/nothing`)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('does not reveal its server software', async () => {
    const { headers } = await fetch(`${api.url}/healthz`);
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('logs its own failures with the route, without the secrets in a link', async () => {
    const log: string[] = [];
    const app = express();
    app.get('/links/:token', () => {
      throw new Error('a fault');
    });
    app.use(errorHandler(pino({}, { write: (line: string) => void log.push(line) })));
    const { url, stop } = await serve(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    const response = await fetch(`${url}/links/as-good-as-a-password?key=another`);
    expect([response.status, await response.json()]).toEqual([500, { error: 'internal error' }]);
    await stop();
    expect(log.map((line) => JSON.parse(line))).toMatchObject([
      { route: '/links/:token', err: { message: 'a fault' } },
    ]);
    expect(log.join()).not.toMatch(/as-good-as-a-password|another/);
  });
});

describe('the operator', () => {
  const get = (path: string, authorization = `Bearer ${OPERATOR_TOKEN}`, from = api) =>
    fetch(from.url + path, { headers: { authorization } });

  test.each(['', 'Bearer nonsense', 'Bearer ', `Basic ${OPERATOR_TOKEN}`, `Bearer ${OPERATOR_TOKEN}x`])(
    'is 401 with the authorization "%s"',
    async (authorization) => {
      for (const path of ['/sites', '/sites/docs', '/sites/nowhere']) {
        const response = await get(path, authorization);
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
        expect(await response.json()).toEqual({ error: expect.any(String) });
      }
    },
  );

  test.each([undefined, ''])('is 401 with any token if the configured one is %j', async (operatorToken) => {
    const closed = await startRecordingApi(config, {}, { operatorToken });
    for (const token of ['', 'undefined', OPERATOR_TOKEN]) {
      expect((await get('/sites', `Bearer ${token}`, closed)).status).toBe(401);
    }
    await closed.stop();
  });

  test.each(['nowhere', '__proto__', 'constructor'])('gets 404 for a site that is not configured: %s', async (site) => {
    const response = await get(`/sites/${site}`);
    expect([response.status, await response.json()]).toEqual([404, { error: 'no such site' }]);
  });

  test.each(['0', '201', 'all', '1.5'])('gets 400 for a page of %s sites', async (limit) => {
    const response = await get(`/sites?limit=${limit}`);
    expect([response.status, await response.json()]).toEqual([400, { error: expect.stringContaining('limit') }]);
  });
});
