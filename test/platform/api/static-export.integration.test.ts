import { type ExportJob, exportJob, exportJobPage } from '../../../contract/admin-api.ts';
import { revokeKey } from '../../../platform/admin/api-keys.ts';
import { markExportJobRunning } from '../../../platform/store/export-job-transitions.ts';
import { createOpenApiCheck, type OpenApiCheck } from '../../helpers/openapi-check.ts';
import { type Customer, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';

const JOBS = '/v1/static-export/jobs';
const NOWHERE = `${JOBS}/se_0123456789abcdef`;
const HOUR_MS = 3_600_000;

describe('the static export endpoints', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let check: OpenApiCheck;
  let api: ApiClient;
  let customer: Customer;

  beforeAll(async () => {
    database = await createDatabase();
    platform = await startTestPlatform(database);
    check = createOpenApiCheck(await (await fetch(`${platform.baseUrl}/openapi.json`)).json(), { under: '/v1/' });
    api = createApiClient(platform.baseUrl, check);
  });
  beforeEach(async () => {
    customer = await platform.addCustomer();
  });
  afterAll(async () => {
    await platform?.stop();
    await database?.stop();
  });

  async function start(body: object = {}, headers: Record<string, string> = {}) {
    return api.post(JOBS, { key: customer.key, body: { domain: customer.domain, ...body }, headers });
  }

  async function startedJob(body: object = {}): Promise<ExportJob> {
    const answer = await start(body);
    expect(answer.status).toBe(202);
    return exportJob.parse(answer.body);
  }

  describe('starting', () => {
    it('queues a job, answers it whole and asks for its workflow', async () => {
      const job = await startedJob();
      expect(job).toMatchObject({ status: 'queued', progress: 0, pageCount: 0, domain: customer.domain, error: null });
      expect(job.jobId).toMatch(/^se_[0-9a-f]{16}$/);
      expect(job.version).toBe(`${new Date(platform.now()).toISOString().slice(0, 10)}.1`);
      expect(job.updatedAt).toBe(job.createdAt);
      expect(platform.started).toContain(job.jobId);
      expect((await api.get(`${JOBS}/${job.jobId}`, { key: customer.key })).body).toEqual(job);
    });

    it('takes the version and the paths that are asked for, and a domain in any case', async () => {
      const body = { domain: customer.domain.toUpperCase(), version: '2026-11-21.3', paths: ['/', '/guides/start'] };
      expect(await startedJob(body)).toMatchObject({ domain: customer.domain, version: '2026-11-21.3' });
    });

    it('is 409 and names the active job while one is queued or running', async () => {
      const { jobId } = await startedJob();
      const second = await start();
      expect(second.status).toBe(409);
      expect(second.error).toContain(jobId);
      await platform.complete(jobId);
      expect((await start()).status).toBe(202);
    });

    it.each([
      [{}, 'domain'],
      [{ domain: 5 }, 'domain'],
      [{ domain: '' }, 'domain'],
      [{ domain: 'https://docs.example.com' }, 'domain'],
      [{ domain: 'docs.example.com', version: '' }, 'version'],
      [{ domain: 'docs.example.com', version: 'a b' }, 'version'],
      [{ domain: 'docs.example.com', paths: [] }, 'paths'],
      [{ domain: 'docs.example.com', paths: ['guides'] }, 'paths.0'],
      [{ domain: 'docs.example.com', branch: 'main' }, 'branch'],
      [[], 'expected object'],
    ])('is 400 and names the field for %j', async (body, field) => {
      const own = 'domain' in body && body.domain === 'docs.example.com' ? { ...body, domain: customer.domain } : body;
      const answer = await api.post(JOBS, { key: customer.key, body: own });
      expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(field)]);
    });

    it.each(['', '{"domain":', 'null', '"text"', '{"domain": "a"} x'])('is 400 for the body %j', async (raw) => {
      const answer = await api.post(JOBS, { key: customer.key, raw, headers: { 'content-type': 'application/json' } });
      expect(answer.status).toBe(400);
    });

    it('is 415 for anything but JSON, and takes every kind of JSON', async () => {
      const raw = JSON.stringify({ domain: customer.domain });
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
        const headers = { 'content-type': type };
        expect([type, (await api.post(JOBS, { key: customer.key, raw, headers })).status]).toEqual([type, 415]);
      }
      const vendor = { 'content-type': 'application/vnd.galley+json; charset=utf-8' };
      expect((await api.post(JOBS, { key: customer.key, raw, headers: vendor })).status).toBe(202);
    });

    it('is 413 for a body over 1 MiB and 202 for one of just 1 MiB', async () => {
      const text = JSON.stringify({ domain: customer.domain });
      const exact = text.padEnd(1024 * 1024, ' ');
      const headers = { 'content-type': 'application/json' };
      expect((await api.post(JOBS, { key: customer.key, raw: `${exact} `, headers })).status).toBe(413);
      expect((await api.post(JOBS, { key: customer.key, raw: exact, headers })).status).toBe(202);
    });

    it('is 404 for a domain of nobody and for one of another organization', async () => {
      const other = await platform.addCustomer();
      expect((await start({ domain: 'nobody.example.com' })).status).toBe(404);
      expect((await start({ domain: other.domain })).status).toBe(404);
    });

    it("lets two organizations have one domain, each with a job of its own and none of the other's", async () => {
      const twin = await platform.addCustomer({ domain: customer.domain });
      const { jobId } = await startedJob();
      const theirs = await api.post(JOBS, { key: twin.key, body: { domain: twin.domain } });
      expect(theirs.status).toBe(202);
      expect((await api.get(`${JOBS}/${jobId}`, { key: twin.key })).status).toBe(404);
    });

    it('happens, and is answered 202, when its workflow cannot be started', async () => {
      const lame = await startTestPlatform(database, {
        db: platform.db,
        startExport: () => Promise.reject(new Error('Temporal is away')),
      });
      const body = { domain: customer.domain };
      const answer = await createApiClient(lame.baseUrl, check).post(JOBS, { key: customer.key, body });
      await lame.stop();
      expect(answer.status).toBe(202);
      const { jobId } = exportJob.parse(answer.body);
      expect((await api.get(`${JOBS}/${jobId}`, { key: customer.key })).body).toMatchObject({ status: 'queued' });
    });
  });

  describe('the Idempotency-Key', () => {
    it('gives the first answer again, also after the job went on, and starts nothing', async () => {
      const key = { 'idempotency-key': 'publish-1' };
      const first = await start({ paths: ['/a'] }, key);
      await platform.complete(exportJob.parse(first.body).jobId);
      const raw = `{ "paths": ["/a"],\n "domain": "${customer.domain}" }`;
      const headers = { ...key, 'content-type': 'application/json' };
      const second = await api.post(JOBS, { key: customer.key, raw, headers });
      expect([second.status, second.body]).toEqual([202, first.body]);
      expect(platform.started.filter((id) => id === exportJob.parse(first.body).jobId)).toHaveLength(1);
    });

    it('is 422 with another body, and belongs to its organization only', async () => {
      const key = { 'idempotency-key': 'publish-1' };
      expect((await start({}, key)).status).toBe(202);
      expect((await start({ version: 'other' }, key)).status).toBe(422);
      const other = await platform.addCustomer();
      const theirs = await api.post(JOBS, { key: other.key, body: { domain: other.domain }, headers: key });
      expect(theirs.status).toBe(202);
    });

    it('keeps no refusal: what was refused may succeed later', async () => {
      const first = await startedJob();
      const key = { 'idempotency-key': 'refused-once' };
      expect((await start({}, key)).status).toBe(409);
      await platform.complete(first.jobId);
      expect((await start({}, key)).status).toBe(202);
    });

    it('is forgotten after 30 days', async () => {
      const key = { 'idempotency-key': 'old' };
      const first = await start({}, key);
      await platform.complete(exportJob.parse(first.body).jobId);
      platform.advance(30 * 24 * HOUR_MS - 60_000);
      expect((await start({}, key)).body).toEqual(first.body);
      platform.advance(120_000);
      const later = await start({}, key);
      expect([later.status, exportJob.parse(later.body).jobId]).toEqual([
        202,
        expect.not.stringMatching(exportJob.parse(first.body).jobId),
      ]);
    });

    it.each(['', 'a b', 'x'.repeat(256), 'ä'])('is 400 for the key %j', async (key) => {
      expect((await start({}, { 'idempotency-key': key })).status).toBe(400);
    });
  });

  describe('the hourly limit', () => {
    it('refuses the 61st start until the moment the first is an hour old, and counts only accepted ones', async () => {
      let remaining = 60;
      for (let index = 0; index < 60; index += 1) {
        const answer = await start();
        remaining -= 1;
        expect(answer.headers.get('ratelimit-limit')).toBe('60');
        expect(answer.headers.get('ratelimit-remaining')).toBe(String(remaining));
        expect((await start()).status).toBe(409);
        await platform.complete(exportJob.parse(answer.body).jobId);
        if (index === 0) platform.advance(10 * 60_000);
      }
      const refused = await start();
      expect(refused.status).toBe(429);
      expect(refused.headers.get('ratelimit-remaining')).toBe('0');
      const retryAfterSeconds = Number(refused.headers.get('retry-after'));
      expect(retryAfterSeconds).toBeLessThanOrEqual(50 * 60);
      expect(retryAfterSeconds).toBeGreaterThan(48 * 60);
      expect(refused.headers.get('ratelimit-reset')).toBe(String(retryAfterSeconds));
      platform.advance((retryAfterSeconds - 30) * 1000);
      expect((await start()).status).toBe(429);
      platform.advance(30_000);
      const freed = await startedJob();
      await platform.complete(freed.jobId);
      expect((await start()).status).toBe(429);
      const other = await platform.addCustomer();
      expect((await api.post(JOBS, { key: other.key, body: { domain: other.domain } })).status).toBe(202);
    });
  });

  describe('reading and cancelling', () => {
    it('lists newest first, page by page, and by domain and status', async () => {
      const ids: string[] = [];
      for (let index = 0; index < 5; index += 1) {
        const { jobId } = await startedJob();
        ids.unshift(jobId);
        await platform.complete(jobId);
      }
      const running = await startedJob();
      const list = async (query: string) => {
        const answer = await api.get(`${JOBS}?${query}`, { key: customer.key });
        expect(answer.status).toBe(200);
        return exportJobPage.parse(answer.body);
      };
      const pages: string[][] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page = await list(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
        pages.push(page.jobs.map((job) => job.jobId));
        cursor = page.nextCursor;
      }
      expect(pages.flat()).toEqual([running.jobId, ...ids]);
      expect(pages.map((page) => page.length)).toEqual([2, 2, 2]);
      expect((await list('status=completed')).jobs.map((job) => job.jobId)).toEqual(ids);
      expect((await list(`domain=${customer.domain}&status=queued`)).jobs).toEqual([running]);
      expect(await list('domain=other.example.com')).toEqual({ jobs: [], nextCursor: null });
    });

    it.each([
      'limit=0',
      'limit=101',
      'limit=x',
      'limit=1&limit=2',
      'status=done',
      'cursor=!',
      'domain=a%20b',
      'page=2',
    ])('is 400 for the list query %s', async (query) => {
      const answer = await api.get(`${JOBS}?${query}`, { key: customer.key });
      expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(query.split('=')[0] ?? '')]);
    });

    it('cancels a queued job at once and a running one by its workflow', async () => {
      const queued = await startedJob();
      const answer = await api.post(`${JOBS}/${queued.jobId}/cancel`, { key: customer.key });
      expect(answer.body).toMatchObject({ result: 'accepted', job: { status: 'failed', error: 'cancelled' } });
      expect(platform.cancelled).toContain(queued.jobId);
      const again = await api.post(`${JOBS}/${queued.jobId}/cancel`, { key: customer.key });
      expect(again.body).toMatchObject({ result: 'already-finished', job: { status: 'failed' } });
      const running = await startedJob();
      await markExportJobRunning(platform.db, running.jobId);
      const told = await api.post(`${JOBS}/${running.jobId}/cancel`, { key: customer.key });
      expect(told.body).toMatchObject({ result: 'accepted', job: { status: 'running', error: null } });
      expect(platform.cancelled).toContain(running.jobId);
    });

    it('links to the bundle only once the job is completed, afresh with each call', async () => {
      const { jobId, version } = await startedJob();
      const path = `${JOBS}/${jobId}/bundle`;
      expect((await api.post(path, { key: customer.key })).status).toBe(409);
      await platform.complete(jobId, Buffer.from('packed'));
      const first = await api.post(path, { key: customer.key });
      expect(first.body).toMatchObject({ jobId, version, sizeBytes: 6 });
      const { bundleUrl, sha256, expiresAt } = JSON.parse(first.text);
      expect(bundleUrl.startsWith(`${platform.baseUrl}/`)).toBe(true);
      expect(new URL(bundleUrl).pathname).toContain(sha256);
      expect(Math.abs(Date.parse(expiresAt) - platform.now() - HOUR_MS)).toBeLessThan(60_000);
      expect(await (await fetch(bundleUrl)).text()).toBe('packed');
      platform.advance(HOUR_MS);
      expect((await fetch(bundleUrl)).status).toBe(403);
      const fresh = JSON.parse((await api.post(path, { key: customer.key })).text);
      expect(await (await fetch(fresh.bundleUrl)).text()).toBe('packed');
    });

    it('shows the report only once the job is completed', async () => {
      const { jobId } = await startedJob();
      expect((await api.get(`${JOBS}/${jobId}/report`, { key: customer.key })).status).toBe(409);
      await platform.complete(jobId);
      expect((await api.get(`${JOBS}/${jobId}/report`, { key: customer.key })).body).toMatchObject({ jobId });
    });
  });

  /** Each endpoint, for a job of its own organization. */
  const endpoints = (jobPath: string): [string, string][] => [
    ['POST', JOBS],
    ['GET', JOBS],
    ['GET', jobPath],
    ['POST', `${jobPath}/cancel`],
    ['POST', `${jobPath}/bundle`],
    ['GET', `${jobPath}/report`],
  ];

  it.each(endpoints(NOWHERE))(
    '%s %s is 401 without a good key, before anything else is looked at',
    async (method, path) => {
      const revoked = await platform.addCustomer();
      await revokeKey(platform.db, revoked.keyId);
      const lame = [
        'Basic abc',
        'Bearer',
        'Bearer galley_',
        'Bearer galley_unknown',
        `Bearer ${revoked.key}`,
        revoked.key,
      ];
      for (const authorization of [undefined, ...lame]) {
        const answer = await api.request(method, path, {
          raw: method === 'POST' ? '{' : undefined,
          headers: authorization === undefined ? {} : { authorization },
        });
        expect([authorization, answer.status]).toEqual([authorization, 401]);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    },
  );

  it('is 403 everywhere without the Enterprise plan, but 404 for what is not theirs', async () => {
    const free = await platform.addCustomer({ plan: 'enterprise' });
    const { jobId } = exportJob.parse((await api.post(JOBS, { key: free.key, body: { domain: free.domain } })).body);
    await api.adminPost('/admin/keys', { organization: free.organization, plan: 'free' });
    for (const [method, path] of endpoints(`${JOBS}/${jobId}`)) {
      const body = method === 'POST' && path === JOBS ? { domain: free.domain } : undefined;
      expect([path, (await api.request(method, path, { key: free.key, body })).status]).toEqual([path, 403]);
    }
    expect((await api.get(NOWHERE, { key: free.key })).status).toBe(404);
  });

  it("is 404 for no job and for another organization's", async () => {
    const other = await platform.addCustomer();
    const { jobId } = exportJob.parse((await api.post(JOBS, { key: other.key, body: { domain: other.domain } })).body);
    for (const job of [NOWHERE, `${JOBS}/${jobId}`, `${JOBS}/se_x`, `${JOBS}/%00`, `${JOBS}/..%2f`]) {
      for (const [method, path] of endpoints(job).slice(2)) {
        expect([path, (await api.request(method, path, { key: customer.key })).status]).toEqual([path, 404]);
      }
    }
  });

  it('has shown every answer of its OpenAPI document but the faults', () => {
    const missing = [...check.foreseen].filter((each) => !check.seen.has(each) && !/ 50[03]$/.test(each));
    expect(missing).toEqual([]);
  });
});
