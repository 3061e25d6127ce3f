import pino from 'pino';
import { makeApiKey } from '../../../platform/admin/api-key-text.ts';
import { createPlatformApi } from '../../../platform/api/create-platform-api.ts';
import { connectDatabase } from '../../../platform/store/database.ts';
import type { OpenApiCheck } from '../../helpers/openapi-check.ts';
import { OPERATOR_TOKEN, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { useApi } from './api-fixture.ts';

const JOBS = '/v1/static-export/jobs';

describe("the platform's API", () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let check: OpenApiCheck;
  let api: ApiClient;
  const logLines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void logLines.push(line) });

  useApi(
    (fixture) => {
      ({ database, platform, check, api } = fixture);
    },
    { logger },
  );

  it("returns the client's X-Request-Id if it is valid, and a new one otherwise", async () => {
    expect((await api.get('/healthz', { headers: { 'x-request-id': 'ci-42' } })).headers.get('x-request-id')).toBe(
      'ci-42',
    );
    for (const id of ['', 'a b', 'x'.repeat(200)]) {
      expect((await api.get('/healthz', { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toMatch(
        /^[\w-]{36}$/,
      );
    }
  });

  it('forbids caching, and does not name its server software', async () => {
    const { headers } = await api.get('/healthz');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('responds 500 without the cause, which it logs with the request id', async () => {
    const failing = await startTestPlatform(database, {
      db: platform.db,
      logger,
      objects: { ...platform.objects, presign: () => Promise.reject(new Error('the secret cause')) },
    });
    const { key, domain } = await platform.addCustomer();
    const client = createApiClient(failing.baseUrl);
    const { jobId } = JSON.parse((await client.post(JOBS, { key, body: { domain } })).text);
    await platform.complete(jobId);
    const checked = createApiClient(failing.baseUrl, check);
    const response = await checked.post(`${JOBS}/${jobId}/bundle`, { key, headers: { 'x-request-id': 'find-me' } });
    await failing.stop();
    expect(response.status).toBe(500);
    expect(response.text).not.toContain('secret cause');
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

  it('responds 503 with Retry-After while the database is down, and is still alive', async () => {
    const { key } = await platform.addCustomer();
    const db = connectDatabase({ url: 'postgres://nobody@127.0.0.1:9/none', logger, connectTimeoutMs: 1000 });
    const withoutDatabase = await startTestPlatform(database, { db, logger });
    const client = createApiClient(withoutDatabase.baseUrl, check);
    const job = `${JOBS}/se_0123456789abcdef`;
    for (const [method, path] of [
      ['GET', JOBS],
      ['POST', JOBS],
      ['GET', job],
      ['POST', `${job}/bundle`],
      ['POST', '/v2/agent/prj_any/job'],
      ['GET', '/v2/agent/prj_any/jobs'],
      ['GET', '/readyz'],
    ] as const) {
      const response = await client.request(method, path, { key });
      expect([path, response.status]).toEqual([path, 503]);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await client.get('/healthz')).status).toBe(200);
    await withoutDatabase.stop();
    await db.close();
  });

  it('responds 503 until the migrations have run', async () => {
    const empty = await createDatabase({ empty: true });
    const db = connectDatabase({ url: empty.url, logger, maxConnections: 1 });
    const fresh = await startTestPlatform(empty, { db, logger });
    const client = createApiClient(fresh.baseUrl);
    expect((await client.get(JOBS, { key: makeApiKey() })).status).toBe(503);
    expect((await client.get('/readyz')).status).toBe(503);
    await fresh.stop();
    await db.close();
    await empty.stop();
  });

  it('is ready once the database responds', async () => {
    expect((await api.get('/readyz')).body).toEqual({ status: 'ready' });
  });

  it('rejects a link lifetime that its object store cannot sign', () => {
    const objects = { ...platform.objects, maxLinkTtlMs: 7 * 86_400_000 };
    const calls = {
      ...{ startExport: async () => {}, cancelExport: async () => {} },
      ...{ startAgentJob: async () => {}, cancelAgentJob: async () => {} },
    };
    const rest = { ...calls, agentModel: 'a-model', publicUrl: 'http://127.0.0.1', logger };
    const bundleLinkTtlMs = 8 * 86_400_000;
    expect(() => createPlatformApi({ db: platform.db, objects, bundleLinkTtlMs, ...rest })).toThrow('at most 7d');
  });

  it('does not log the values of a failed statement', async () => {
    const { organization, project } = await platform.addCustomer();
    await platform.db.execute('alter table projects rename column ref to branch');
    const response = await api.request('PATCH', '/admin/projects', {
      key: OPERATOR_TOKEN,
      body: { organization, project, settings: { webhookSecret: 'hush-value' } },
    });
    await platform.db.execute('alter table projects rename column branch to ref');
    expect(response.status).toBe(500);
    const logged = logLines.filter((line) => line.includes('Request failed')).join('');
    expect(logged).toContain('column projects.ref does not exist');
    expect([project, 'hush-value'].filter((value) => logged.includes(value))).toEqual([]);
  });

  it('exposes metrics of requests by route and status, and of the process', async () => {
    const { key } = await platform.addCustomer();
    await api.get('/v1/static-export/jobs/se_0123456789abcdef', { key });
    await api.get('/no/such/path');
    const response = await fetch(`${platform.baseUrl}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain');
    const text = await response.text();
    const counted = (labels: string) => text.includes(`galley_platform_requests_total{${labels}} 1`);
    expect(counted('method="GET",route="/v1/static-export/jobs/:jobId",status="404"')).toBe(true);
    expect(counted('method="GET",route="none",status="404"')).toBe(true);
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
    expect(text).not.toContain('se_0123456789abcdef');
    expect((await api.post('/metrics', {})).headers.get('allow')).toBe('GET, HEAD');
  });

  it('responds 503 if the database is read-only, as after a failover', async () => {
    const { key, domain } = await platform.addCustomer();
    await platform.db.execute('set default_transaction_read_only = on');
    const response = await api.post('/v1/static-export/jobs', { key, body: { domain } });
    await platform.db.execute('set default_transaction_read_only = off');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  });
});
