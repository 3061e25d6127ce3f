import pino from 'pino';
import { createPlatformApi } from '../../../platform/api/create-platform-api.ts';
import { connectDatabase } from '../../../platform/store/database.ts';
import { createOpenApiCheck } from '../../helpers/openapi-check.ts';
import { startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { usePlatform } from './use-platform.ts';

const JOBS = '/v1/static-export/jobs';

describe("the platform's API", () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let api: ApiClient;
  const logLines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void logLines.push(line) });

  usePlatform(
    (given) => {
      ({ database, platform, api } = given);
    },
    { logger },
  );

  it.each([
    '/',
    '/v1',
    '/v2/agent',
    `${JOBS}/`,
    `${JOBS}/se_0123456789abcdef/other`,
    '/V1/static-export/jobs',
    '/%ff',
    `${JOBS}/%E0%A4%A`,
  ])('answers 404 as JSON for the unknown path %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) expect((await api.request(method, path)).status).toBe(404);
  });

  it.each([
    [JOBS, 'GET, HEAD, POST'],
    [`${JOBS}/se_0123456789abcdef`, 'GET, HEAD'],
    [`${JOBS}/se_0123456789abcdef/cancel`, 'POST'],
    [`${JOBS}/se_0123456789abcdef/bundle`, 'POST'],
    [`${JOBS}/se_0123456789abcdef/report`, 'GET, HEAD'],
    ['/healthz', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
  ])('answers 405 with Allow for another method on %s', async (path, allow) => {
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await api.request(method, path);
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allow]);
    }
  });

  it("keeps a usable X-Request-Id of the client's and makes one in place of any other", async () => {
    expect((await api.get('/healthz', { headers: { 'x-request-id': 'ci-42' } })).headers.get('x-request-id')).toBe(
      'ci-42',
    );
    for (const id of ['', 'a b', 'x'.repeat(200)]) {
      expect((await api.get('/healthz', { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toMatch(
        /^[\w-]{36}$/,
      );
    }
  });

  it('tells no cache to keep anything, and not what serves it', async () => {
    const { headers } = await api.get('/healthz');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('answers 500 without a word of the cause, which the log has under the request id', async () => {
    const failing = await startTestPlatform(database, {
      db: platform.db,
      logger,
      objects: { ...platform.objects, presign: () => Promise.reject(new Error('the secret cause')) },
    });
    const { key, domain } = await platform.addCustomer();
    const client = createApiClient(failing.baseUrl);
    const { jobId } = JSON.parse((await client.post(JOBS, { key, body: { domain } })).text);
    await platform.complete(jobId);
    const document = await (await fetch(`${platform.baseUrl}/openapi.json`)).json();
    const checked = createApiClient(failing.baseUrl, createOpenApiCheck(document));
    const answer = await checked.post(`${JOBS}/${jobId}/bundle`, { key, headers: { 'x-request-id': 'find-me' } });
    await failing.stop();
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret cause');
    const logged = logLines.filter((line) => line.includes('secret cause'));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('find-me');
  });

  it('logs each request without key, query or body', async () => {
    const { key, domain } = await platform.addCustomer();
    await api.post(JOBS, { key, body: { domain, version: 'hush-body' } });
    await api.get(`${JOBS}?cursor=123456789`, { key });
    const { url } = await platform.objects.presign('a', { ttlMs: 1000 });
    await fetch(platform.baseUrl + url);
    const log = logLines.join('');
    expect(log).toContain('"path":"/v1/static-export/jobs"');
    expect(log).toContain('"path":"/objects/a"');
    expect([key, 'hush-body', 'cursor=', 'signature='].filter((secret) => log.includes(secret))).toEqual([]);
  });

  it('answers 503 with Retry-After while the database is away, and is alive all the same', async () => {
    const { key } = await platform.addCustomer();
    const db = connectDatabase({ url: 'postgres://nobody@127.0.0.1:9/none', logger, connectTimeoutMs: 1000 });
    const away = await startTestPlatform(database, { db, logger });
    const document = await (await fetch(`${away.baseUrl}/openapi.json`)).json();
    const client = createApiClient(away.baseUrl, createOpenApiCheck(document));
    const job = `${JOBS}/se_0123456789abcdef`;
    for (const [method, path] of [
      ['GET', JOBS],
      ['POST', JOBS],
      ['GET', job],
      ['POST', `${job}/bundle`],
      ['GET', '/readyz'],
    ] as const) {
      const answer = await client.request(method, path, { key });
      expect([path, answer.status]).toEqual([path, 503]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await client.get('/healthz')).status).toBe(200);
    await away.stop();
    await db.close();
  });

  it('answers 503 too while the migrations have not run yet', async () => {
    const empty = await createDatabase({ empty: true });
    const db = connectDatabase({ url: empty.url, logger, maxConnections: 1 });
    const fresh = await startTestPlatform(empty, { db, logger });
    const client = createApiClient(fresh.baseUrl);
    expect((await client.get(JOBS, { key: 'galley_any' })).status).toBe(503);
    expect((await client.get('/readyz')).status).toBe(503);
    await fresh.stop();
    await db.close();
    await empty.stop();
  });

  it('is ready once the database answers', async () => {
    expect((await api.get('/readyz')).body).toEqual({ status: 'ready' });
  });

  it('refuses a link lifetime that its object store cannot sign', () => {
    const objects = { ...platform.objects, maxLinkTtlMs: 7 * 86_400_000 };
    const calls = {
      ...{ startExport: async () => {}, cancelExport: async () => {} },
      ...{ startAgentJob: async () => {}, cancelAgentJob: async () => {} },
    };
    const rest = { ...calls, agentModel: 'a-model', publicUrl: 'http://127.0.0.1', logger };
    const bundleLinkTtlMs = 8 * 86_400_000;
    expect(() => createPlatformApi({ db: platform.db, objects, bundleLinkTtlMs, ...rest })).toThrow('at most 7d');
  });

  describe('its documentation', () => {
    it('is an OpenAPI 3.1 document of version 2.0.0 that names the public address', async () => {
      const { body } = await api.get('/openapi.json');
      expect(body).toMatchObject({
        openapi: '3.1.0',
        info: { version: '2.0.0' },
        servers: [{ url: platform.baseUrl }],
        paths: { [JOBS]: { post: { operationId: 'startExport' } } },
      });
    });

    it('can be browsed at /docs with nothing from elsewhere and no inline script', async () => {
      const page = await fetch(`${platform.baseUrl}/docs`);
      expect(page.url).toBe(`${platform.baseUrl}/docs/`);
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
      const html = await page.text();
      expect(html).not.toMatch(/<script>|https?:/);
      const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, asset = '']) => asset);
      expect(assets).toHaveLength(4);
      for (const asset of assets) {
        const answer = await fetch(new URL(asset, page.url));
        expect([asset, answer.status]).toEqual([asset, 200]);
        await answer.arrayBuffer();
      }
    });
  });
});
