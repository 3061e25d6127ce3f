import { createAdminApiClient } from '../../client/admin-api-client.ts';
import type { TestPlatform } from '../helpers/platform-api.ts';
import { type ApiFixture, startApi } from '../platform/api/api-fixture.ts';

describe('the client, with the platform', () => {
  let fixture: ApiFixture;
  let platform: TestPlatform;

  beforeAll(async () => {
    fixture = await startApi();
    platform = fixture.platform;
  });
  afterAll(() => fixture?.stop());

  const clientOf = (key: string) => createAdminApiClient({ url: platform.baseUrl, key });

  it('starts, waits for, lists and cancels exports, and reads their results', async () => {
    const { key, domain } = await platform.addCustomer();
    const client = clientOf(key);
    const started = await client.exports.start({ domain, version: '1.0' }, { idempotencyKey: 'once' });
    expect(started).toMatchObject({ status: 'queued', progress: 0, pageCount: 0, version: '1.0', domain });
    expect(await client.exports.start({ domain, version: '1.0' }, { idempotencyKey: 'once' })).toEqual(started);
    await expect(client.exports.start({ domain })).rejects.toMatchObject({ status: 409 });
    await expect(client.exports.report(started.jobId)).rejects.toMatchObject({ status: 409 });

    let completing: Promise<void> | undefined;
    const ended = await client.waitForJob(started.jobId, {
      pollDelayMs: () => 10,
      onProgress: () => {
        completing ??= platform.complete(started.jobId);
      },
    });
    await completing;
    expect(ended).toMatchObject({ status: 'completed', progress: 100, pageCount: 3, error: null });
    const bundle = await client.exports.bundle(started.jobId);
    expect(bundle).toMatchObject({
      jobId: started.jobId,
      sizeBytes: 10,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(Date.parse(bundle.expiresAt ?? '')).toBeGreaterThan(Date.now());
    expect(await client.exports.report(started.jobId)).toMatchObject({ jobId: started.jobId, brokenLinks: [] });

    const second = await client.exports.start({ domain });
    expect(await client.exports.cancel(second.jobId)).toMatchObject({
      result: 'accepted',
      job: { jobId: second.jobId },
    });
    expect(await client.exports.cancel(started.jobId)).toMatchObject({ result: 'already-finished' });
    const listed: string[] = [];
    for await (const { jobId } of client.exports.list({ domain, limit: 1 })) listed.push(jobId);
    expect(listed).toEqual([second.jobId, started.jobId]);
  });

  it('creates, lists, cancels and archives agent jobs', async () => {
    const { key, project: projectId } = await platform.addCustomer();
    const { agentJobs, waitForAgentJob } = clientOf(key);
    const job = await agentJobs.create({ projectId, prompt: 'Do it' });
    expect(job).toMatchObject({ status: 'active', prLink: null, model: 'a-model' });
    const ref = { projectId, id: job.id };
    await expect(agentJobs.archive(ref)).rejects.toMatchObject({ status: 409 });
    await expect(agentJobs.message({ ...ref, prompt: 'More' })).rejects.toMatchObject({ status: 409 });
    expect(await agentJobs.cancel(ref)).toMatchObject({ result: 'accepted' });
    expect(await waitForAgentJob(ref)).toMatchObject({ id: job.id, status: 'failed', error: 'cancelled' });
    expect(await agentJobs.archive(ref)).toMatchObject({ status: 'archived', archivedAt: expect.any(String) });
    expect((await agentJobs.list({ projectId }).page()).jobs.map(({ id }) => id)).toEqual([job.id]);
    expect(await agentJobs.log(ref)).toEqual(expect.any(String));
  });

  it("reads the platform's error of a rejected request, with the request id", async () => {
    const { key, domain } = await platform.addCustomer({ plan: 'free' });
    const rejected = {
      status: 403,
      requestId: expect.stringMatching(/^[\w.-]+$/),
      reason: expect.stringMatching(/plan/),
    };
    await expect(clientOf(key).exports.start({ domain })).rejects.toMatchObject(rejected);
    await expect(clientOf('galley_unknown').exports.get('se_1')).rejects.toMatchObject({ status: 401 });
    await expect(clientOf(key).exports.list({ limit: 1_000 }).page()).rejects.toMatchObject({ status: 400 });
  });
});
