import { type ExportJob, exportJob, exportJobPage, exportReport } from '../../../contract/admin-api.ts';
import { failExportJob, markExportJobRunning } from '../../../platform/store/export-job-transitions.ts';
import { buildBundle } from '../../deployment/bundles.ts';
import type { OpenApiCheck } from '../../helpers/openapi-check.ts';
import { type Customer, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { useApi } from './api-fixture.ts';

const JOBS = '/v1/static-export/jobs';
const HOUR_MS = 3_600_000;

describe('the static export endpoints', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let check: OpenApiCheck;
  let api: ApiClient;
  let customer: Customer;

  useApi((fixture) => {
    ({ database, platform, check, api } = fixture);
  });
  beforeEach(async () => {
    customer = await platform.addCustomer();
  });

  async function start(body: object = {}, headers: Record<string, string> = {}) {
    return api.post(JOBS, { key: customer.key, body: { domain: customer.domain, ...body }, headers });
  }

  async function startedJob(body: object = {}): Promise<ExportJob> {
    const response = await start(body);
    expect(response.status).toBe(202);
    return exportJob.parse(response.body);
  }

  describe('starting', () => {
    it('queues a job, returns all of it and starts its workflow', async () => {
      const job = await startedJob();
      expect(job).toMatchObject({ status: 'queued', progress: 0, pageCount: 0, domain: customer.domain, error: null });
      expect(job.jobId).toMatch(/^se_[0-9a-f]{16}$/);
      expect(job.version).toBe(`${job.createdAt.slice(0, 10)}.1`);
      expect(job.updatedAt).toBe(job.createdAt);
      expect(platform.started).toContain(job.jobId);
      expect((await api.get(`${JOBS}/${job.jobId}`, { key: customer.key })).body).toEqual(job);
    });

    it('accepts a version, paths, and a domain in upper or lower case', async () => {
      const body = { domain: customer.domain.toUpperCase(), version: '2026-11-21.3', paths: ['/', 'guides/start'] };
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

    it('is 409 for a version of a completed export of the domain, and names that export', async () => {
      const failed = await startedJob({ version: '1.2' });
      await failExportJob(platform.db, failed.jobId, 'test');
      // The failed export has no bundle, so its version is still free.
      const { jobId } = await startedJob({ version: '1.2' });
      await platform.complete(jobId);
      const repeated = await start({ version: '1.2' });
      expect(repeated.status).toBe(409);
      expect(repeated.error).toMatch(new RegExp(`version 1\\.2.*${jobId}`));
      expect(await startedJob({ version: '1.3' })).toMatchObject({ version: '1.3' });
      const other = await platform.addCustomer();
      const theirs = await api.post(JOBS, { key: other.key, body: { domain: other.domain, version: '1.2' } });
      expect(theirs.status).toBe(202);
    });

    it.each([
      [{}, 'domain'],
      [{ domain: 5 }, 'domain'],
      [{ domain: '' }, 'domain'],
      [{ domain: 'https://docs.example.com' }, 'domain'],
      [{ domain: 'docs.example.com', version: '' }, 'version'],
      [{ domain: 'docs.example.com', version: 'a b' }, 'version'],
      [{ domain: 'docs.example.com', paths: [] }, 'paths'],
      [{ domain: 'docs.example.com', paths: [''] }, 'paths.0'],
      [{ domain: 'docs.example.com', paths: ['https://docs.example.com/'] }, 'paths.0'],
      [{ domain: 'docs.example.com', branch: 'main' }, 'branch'],
      [[], 'expected object'],
    ])('is 400 and names the field for %j', async (body, field) => {
      const own = 'domain' in body && body.domain === 'docs.example.com' ? { ...body, domain: customer.domain } : body;
      const response = await api.post(JOBS, { key: customer.key, body: own });
      expect([response.status, response.error]).toEqual([400, expect.stringContaining(field)]);
    });

    it('is 404 for an unknown domain and for one of another organization', async () => {
      const other = await platform.addCustomer();
      expect((await start({ domain: 'nobody.example.com' })).status).toBe(404);
      expect((await start({ domain: other.domain })).status).toBe(404);
    });

    it('keeps the jobs of two organizations with the same domain separate', async () => {
      const twin = await platform.addCustomer({ domain: customer.domain });
      const { jobId } = await startedJob();
      const theirs = await api.post(JOBS, { key: twin.key, body: { domain: twin.domain } });
      expect(theirs.status).toBe(202);
      expect((await api.get(`${JOBS}/${jobId}`, { key: twin.key })).status).toBe(404);
    });

    it('is 202 and stores the job even if its workflow cannot be started', async () => {
      const failing = await startTestPlatform(database, {
        db: platform.db,
        startExport: () => Promise.reject(new Error('Temporal is down')),
      });
      const body = { domain: customer.domain };
      const response = await createApiClient(failing.baseUrl, check).post(JOBS, { key: customer.key, body });
      await failing.stop();
      expect(response.status).toBe(202);
      const { jobId } = exportJob.parse(response.body);
      expect((await api.get(`${JOBS}/${jobId}`, { key: customer.key })).body).toMatchObject({ status: 'queued' });
    });
  });

  describe('the Idempotency-Key', () => {
    it('returns the first response again, also after the job progressed, and starts nothing', async () => {
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

    it('does not store a rejection: the same request may succeed later', async () => {
      const first = await startedJob();
      const key = { 'idempotency-key': 'refused-once' };
      expect((await start({}, key)).status).toBe(409);
      await platform.complete(first.jobId);
      expect((await start({}, key)).status).toBe(202);
    });

    it('expires after 30 days', async () => {
      const key = { 'idempotency-key': 'old' };
      const first = await start({}, key);
      await platform.complete(exportJob.parse(first.body).jobId);
      platform.advance(30 * 24 * HOUR_MS - HOUR_MS);
      expect((await start({}, key)).body).toEqual(first.body);
      platform.advance(2 * HOUR_MS);
      const later = await start({}, key);
      expect([later.status, exportJob.parse(later.body).jobId]).toEqual([
        202,
        expect.not.stringMatching(exportJob.parse(first.body).jobId),
      ]);
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
        const response = await api.get(`${JOBS}?${query}`, { key: customer.key });
        expect(response.status).toBe(200);
        return exportJobPage.parse(response.body);
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
      const response = await api.get(`${JOBS}?${query}`, { key: customer.key });
      expect([response.status, response.error]).toEqual([400, expect.stringContaining(query.split('=')[0] ?? '')]);
    });

    it('cancels a queued job at once and a running one through its workflow', async () => {
      const queued = await startedJob();
      const response = await api.post(`${JOBS}/${queued.jobId}/cancel`, { key: customer.key });
      expect(response.body).toMatchObject({ result: 'accepted', job: { status: 'failed', error: 'cancelled' } });
      expect(platform.canceled).toContain(queued.jobId);
      const again = await api.post(`${JOBS}/${queued.jobId}/cancel`, { key: customer.key });
      expect(again.body).toMatchObject({ result: 'already-finished', job: { status: 'failed' } });
      const running = await startedJob();
      await markExportJobRunning(platform.db, running.jobId);
      const runningResponse = await api.post(`${JOBS}/${running.jobId}/cancel`, { key: customer.key });
      expect(runningResponse.body).toMatchObject({ result: 'accepted', job: { status: 'running', error: null } });
      expect(platform.canceled).toContain(running.jobId);
    });

    it('returns the stored report of a failed job, or else an empty report', async () => {
      const { jobId } = await startedJob();
      const report = () => api.get(`${JOBS}/${jobId}/report`, { key: customer.key });
      await failExportJob(platform.db, jobId, 'test');
      const nothing = await report();
      expect(nothing.status).toBe(200);
      expect(exportReport.parse(nothing.body)).toMatchObject({ jobId, brokenLinks: [], counts: { brokenLinks: 0 } });

      const other = await startedJob();
      const stored = { ...exportReport.parse(nothing.body), jobId: other.jobId, notices: [{ url: null, text: 'met' }] };
      const reportKey = `reports/${other.jobId}.json`;
      await platform.objects.put(reportKey, Buffer.from(JSON.stringify(stored)), { contentType: 'application/json' });
      await failExportJob(platform.db, other.jobId, 'test', reportKey);
      const withReport = await api.get(`${JOBS}/${other.jobId}/report`, { key: customer.key });
      expect([withReport.status, withReport.body]).toEqual([200, stored]);
    });

    it('returns the report and a fresh link to the bundle once the job is completed', async () => {
      const { jobId, version } = await startedJob();
      const path = `${JOBS}/${jobId}/bundle`;
      const report = () => api.get(`${JOBS}/${jobId}/report`, { key: customer.key });
      expect([(await api.post(path, { key: customer.key })).status, (await report()).status]).toEqual([409, 409]);
      await platform.complete(jobId, Buffer.from('packed'));
      expect((await report()).body).toMatchObject({ jobId });
      const requestedAt = platform.now();
      const first = await api.post(path, { key: customer.key });
      expect(first.body).toMatchObject({ jobId, version, sizeBytes: 6 });
      const { bundleUrl, sha256, manifestSha256, expiresAt } = JSON.parse(first.text);
      expect(manifestSha256).toMatch(/^[0-9a-f]{64}$/);
      expect(bundleUrl.startsWith(`${platform.baseUrl}/`)).toBe(true);
      expect(new URL(bundleUrl).pathname).toContain(sha256);
      expect(Date.parse(expiresAt)).toBeGreaterThan(requestedAt + HOUR_MS - 1);
      expect(Date.parse(expiresAt)).toBeLessThanOrEqual(platform.now() + HOUR_MS);
      expect(await (await fetch(bundleUrl)).text()).toBe('packed');
      platform.advance(HOUR_MS);
      expect((await fetch(bundleUrl)).status).toBe(403);
      const fresh = JSON.parse((await api.post(path, { key: customer.key })).text);
      expect(await (await fetch(fresh.bundleUrl)).text()).toBe('packed');
    });

    it('compares the bundle with the previous completed export of the same pages', async () => {
      const changes = (jobId: string) => api.get(`${JOBS}/${jobId}/changes`, { key: customer.key });
      const exported = async (files: Record<string, string>, body: object = {}): Promise<string> => {
        const { jobId } = await startedJob(body);
        await platform.complete(jobId, await buildBundle({ files, jobId }));
        return jobId;
      };
      const first = await exported({ 'a.html': '1', 'b.html': '1' });
      expect((await changes(first)).body).toMatchObject({ since: null, added: ['a.html', 'b.html'] });

      await exported({ 'b.html': '1' }, { paths: ['/b'] });
      await failExportJob(platform.db, (await startedJob()).jobId, 'test');
      const { jobId: running } = await startedJob();
      expect((await changes(running)).status).toBe(409);
      await platform.complete(running, await buildBundle({ files: { 'a.html': '2', 'c.html': '1' } }));
      expect((await changes(running)).body).toEqual({
        ...{ since: first, added: ['c.html'], changed: ['a.html'], removed: ['b.html'], newlyBroken: [] },
      });
    });
  });
});
