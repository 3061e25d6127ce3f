import { bundle, exportJobPage, projectExportJob } from '../../../contract/admin-api.ts';
import { failExportJob } from '../../../platform/store/export-job-transitions.ts';
import { getExportJob } from '../../../platform/store/export-jobs.ts';
import type { Customer, TestPlatform } from '../../helpers/platform-api.ts';
import type { ApiClient } from './api-client.ts';
import { logUses, useApi } from './api-fixture.ts';

const HOUR_MS = 3_600_000;

describe('static export in form `project`', () => {
  let platform: TestPlatform;
  let api: ApiClient;
  let customer: Customer;
  let jobs: string;

  useApi((fixture) => {
    ({ platform, api } = fixture);
  });
  beforeEach(async () => {
    customer = await platform.addCustomer();
    jobs = `/v1/static-export/${customer.project}/jobs`;
  });

  const start = (body?: object) => api.post(jobs, { key: customer.key, ...(body && { body }) });
  const read = async (jobId: string) =>
    projectExportJob.parse((await api.get(`${jobs}/${jobId}`, { key: customer.key })).body);

  async function startedId(body?: object): Promise<string> {
    const response = await start(body);
    expect(response.status).toBe(202);
    return projectExportJob.parse(response.body).jobId;
  }

  it('starts a job without a body, and shows only the published fields', async () => {
    const response = await start();
    expect([response.status, Object.keys(JSON.parse(response.text)).sort()]).toEqual([
      202,
      ['createdAt', 'error', 'jobId', 'status', 'updatedAt'],
    ]);
    const { jobId } = projectExportJob.parse(response.body);
    expect(platform.started).toContain(jobId);
    expect(await read(jobId)).toMatchObject({ jobId, status: 'queued', error: null });
  });

  it('gives a fresh link on each read of a completed job, and none before', async () => {
    const jobId = await startedId();
    expect(await read(jobId)).not.toHaveProperty('bundleUrl');
    await platform.complete(jobId, Buffer.from('packed'));
    const first = await read(jobId);
    expect(first).toMatchObject({ status: 'completed', sizeBytes: 6 });
    expect(await (await fetch(first.bundleUrl ?? '')).text()).toBe('packed');
    platform.advance(HOUR_MS);
    expect((await fetch(first.bundleUrl ?? '')).status).toBe(403);
    const second = await read(jobId);
    expect(await (await fetch(second.bundleUrl ?? '')).text()).toBe('packed');
    expect(Date.parse(second.expiresAt ?? '')).toBeGreaterThan(Date.parse(first.expiresAt ?? ''));
  });

  it('says why a job failed', async () => {
    const jobId = await startedId();
    await failExportJob(platform.db, jobId, 'the origin is down');
    expect(await read(jobId)).toMatchObject({ status: 'failed', error: 'the origin is down' });
  });

  it('has the same jobs as form `domain`', async () => {
    const jobId = await startedId();
    const { key, domain } = customer;
    const list = await api.get(`/v1/static-export/jobs?domain=${domain}`, { key });
    expect(exportJobPage.parse(list.body).jobs.map((job) => job.jobId)).toEqual([jobId]);
    expect((await api.post('/v1/static-export/jobs', { key, body: { domain } })).status).toBe(409);
    await platform.complete(jobId, Buffer.from('packed'));
    const link = await api.post(`/v1/static-export/jobs/${jobId}/bundle`, { key });
    expect(bundle.parse(link.body).sizeBytes).toBe((await read(jobId)).sizeBytes);
  });

  it('has one active job per project: 409, without its id', async () => {
    const jobId = await startedId();
    const second = await start();
    expect(second.status).toBe(409);
    expect(second.error).not.toContain(jobId);
    await platform.complete(jobId);
    expect((await start()).status).toBe(202);
  });

  it('allows 10 starts per organization and hour, of both forms: 429 without Retry-After', async () => {
    await logUses(platform, customer, { of: 'starts', count: 9 });
    const jobId = await startedId();
    await platform.complete(jobId);
    const limited = await start();
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, null]);
    platform.advance(HOUR_MS + 1_000);
    expect((await start()).status).toBe(202);
  });

  it('accepts the base paths that are published, and stores them', async () => {
    for (const basePath of ['', '/docs', '/documentation']) {
      const jobId = await startedId({ basePath });
      expect(await getExportJob(platform.db, jobId)).toMatchObject({ basePath });
      await platform.complete(jobId);
    }
  });

  it.each([{ basePath: '/other' }, { basePath: null }, { domain: 'docs.example.com' }, []])(
    'is 400 for %j',
    async (body) => {
      expect((await start(body)).status).toBe(400);
    },
  );

  it("is 404 for another organization's project and for a job of another project", async () => {
    const other = await platform.addCustomer();
    expect((await api.post(jobs, { key: other.key })).status).toBe(404);
    const jobId = await startedId();
    const theirs = `/v1/static-export/${other.project}/jobs`;
    for (const key of [customer.key, other.key]) {
      expect((await api.get(`${theirs}/${jobId}`, { key })).status).toBe(404);
    }
  });

  it('finds a form by a start with an invalid body, which starts nothing', async () => {
    const raw = '{';
    const headers = { 'content-type': 'application/json' };
    for (const path of ['/v1/static-export/jobs', jobs]) {
      expect((await api.post(path, { key: customer.key, raw, headers })).status).toBe(400);
    }
    const list = await api.get('/v1/static-export/jobs', { key: customer.key });
    expect(exportJobPage.parse(list.body).jobs).toEqual([]);
  });
});
