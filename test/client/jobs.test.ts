import { AdminApiError, createAdminApiClient, type ExportJob } from '../../client/admin-api-client.ts';
import { exportJob } from '../../contract/admin-api.ts';
import { type Scripted, useScriptedServers } from '../helpers/admin-api/scripted-server.ts';

const startServer = useScriptedServers();

async function service(...script: Scripted[]) {
  const server = await startServer(script);
  return { server, client: createAdminApiClient({ url: server.url, key: 'galley_secret', retry: false }) };
}

const ok = (body: unknown): Scripted => ({ status: 200, body });

const unknownFields = {
  ...{ progress: null, pageCount: null, version: null, domain: null },
  ...{ createdAt: null, updatedAt: null, error: null },
};
const unknownAgentFields = {
  ...{ source: { repository: null, ref: null }, model: null, prLink: null },
  ...{ createdAt: null, updatedAt: null, archivedAt: null, error: null },
};

describe('an export job', () => {
  it.each([200, 201, 202, 203, 226])('is started by %i with only an id', async (status) => {
    const { client } = await service({ status, body: { jobId: 17, surprise: [{}] } });
    const job = await client.exports.start({ domain: 'docs.example.com' });
    expect(job).toEqual({ ...unknownFields, jobId: '17', status: 'queued' });
  });

  it.each([
    ['Completed ', 'completed'],
    ['FAILED', 'failed'],
    ['queued', 'queued'],
    ['paused?', 'running'],
  ])('with the status %j is %s, without other fields', async (status, read) => {
    const { client } = await service(ok({ status }));
    expect(await client.exports.get('job №1/2')).toEqual({ ...unknownFields, jobId: 'job №1/2', status: read });
  });

  it('is read with the field names of other services', async () => {
    const body = { status: 'running', progress: '42.5 %', pageCount: '12', version: 3, domain: '', error: { code: 1 } };
    const dates = { createdAt: '2026-11-21 09:00:00+0100', updatedAt: 1_795_248_000 };
    const { client } = await service(ok({ ...body, ...dates }));
    expect(await client.exports.get('se_1')).toEqual({
      ...{ jobId: 'se_1', status: 'running', progress: 42.5, pageCount: 12, version: '3', domain: null, error: null },
      ...{ createdAt: '2026-11-21T08:00:00.000Z', updatedAt: '2026-11-21T08:00:00.000Z' },
    });
  });

  it('of the contract has the type of the client', () => {
    const [jobId, at] = ['se_0123456789abcdef', '2026-11-21T08:00:00.000Z'];
    const job = { jobId, status: 'queued', progress: 0, pageCount: 0, version: '1', domain: 'a.example' } as const;
    const read: ExportJob = exportJob.parse({ ...job, createdAt: at, updatedAt: at, error: null });
    expect(read.jobId).toBe(jobId);
  });

  it.each<[string, Scripted]>([
    ['an HTML page', { status: 200, text: '<!doctype html><title>Log in</title>' }],
    ['an empty body', { status: 204, text: '' }],
    ['an unreadable or cut body', { status: 200, text: '{"status": "comp' }],
    ['an unreadable or cut body', ok(['status'])],
    ['an unreadable or cut body', ok({ status: ' ' })],
  ])('without a status is an error that names the field: %s', async (kind, scripted) => {
    const { client } = await service(scripted);
    await expect(client.exports.get('se_1')).rejects.toThrow(`the response has no usable "status" (${kind})`);
  });

  it.each(['', ' \n', '..', null, {}, 'x'.repeat(501)])('with the id %j is an error', async (jobId) => {
    const { client } = await service({ status: 202, body: { jobId } });
    const start = client.exports.start({ domain: 'docs.example.com' });
    await expect(start).rejects.toMatchObject({ status: 202, reason: expect.stringContaining('"jobId"') });
  });

  it.each<[Scripted, object]>([
    [
      { status: 202, text: '' },
      { result: 'accepted', job: null },
    ],
    [
      { status: 200, text: 'OK' },
      { result: 'accepted', job: null },
    ],
    [ok({ result: 'already-finished' }), { result: 'already-finished', job: null }],
    [
      ok({ result: 'accepted', job: { jobId: 'se_1', status: 'failed', error: 'cancelled' } }),
      { result: 'accepted', job: { ...unknownFields, jobId: 'se_1', status: 'failed', error: 'cancelled' } },
    ],
  ])('is cancelled by any success: %j', async (scripted, cancellation) => {
    const { server, client } = await service(scripted);
    await expect(client.exports.cancel('se_1')).resolves.toEqual(cancellation);
    expect(server.received[0]).toMatchObject({ method: 'POST', path: '/v1/static-export/jobs/se_1/cancel', body: '' });
  });
});

describe('a bundle', () => {
  it('needs only a link', async () => {
    const { server, client } = await service(ok({ bundleUrl: 'https://x/b?s=1' }));
    expect(await client.exports.bundle('j1')).toEqual({
      ...{ jobId: 'j1', bundleUrl: 'https://x/b?s=1', expiresAt: null, sizeBytes: null, sha256: null, version: null },
    });
    expect(server.received[0]).toMatchObject({ path: '/v1/static-export/jobs/j1/bundle', body: '' });
  });

  it.each(['not a link', 7, null])('with the link %j is an error', async (bundleUrl) => {
    const { client } = await service(ok({ bundleUrl }));
    await expect(client.exports.bundle('j1')).rejects.toThrow('no usable "bundleUrl"');
  });
});

describe('results of an export', () => {
  it('are read for any id, and for reports of older releases', async () => {
    const report = { jobId: 'j1', brokenLinks: [], redirects: [], skippedPages: [], truncated: false };
    const counts = { brokenLinks: 0, redirects: 0, skippedPages: 0, originUrls: 0 };
    const changes = { since: 'j0', added: ['a.html'], changed: [], removed: [], newlyBroken: [] };
    const { client } = await service(ok({ ...report, counts, more: 1 }), ok({ ...changes, more: 1 }));
    await expect(client.exports.report('j1')).resolves.toEqual({
      ...report,
      counts: { ...counts, brokenAnchors: 0 },
      brokenAnchors: [],
      leftOut: [],
      unread: [],
      originUrls: [],
      notices: [],
    });
    await expect(client.exports.changes('j1')).resolves.toEqual(changes);
  });

  it('may be larger than any other response', async () => {
    const added = Array.from({ length: 100_000 }, (_, index) => `${'folder/'.repeat(8)}${index}.html`);
    const { client } = await service(ok({ since: null, added, changed: [], removed: [], newlyBroken: [] }));
    expect((await client.exports.changes('j1')).added).toHaveLength(added.length);
  });
});

describe('a list of jobs', () => {
  const page = (ids: number[], nextCursor?: string): Scripted =>
    ok({ jobs: ids.map((id) => ({ jobId: `se_${id}`, status: 'completed' })), nextCursor });

  it('is iterated over all pages, and requests one only when it is needed', async () => {
    const { server, client } = await service(page([5, 4], 'c1'), page([], 'c2'), page([3, 2]));
    const found: string[] = [];
    for await (const { jobId } of client.exports.list({ domain: 'a b.example', limit: 2 })) {
      found.push(jobId);
      if (jobId === 'se_4') expect(server.received).toHaveLength(1);
      if (jobId === 'se_3') break;
    }
    expect(found).toEqual(['se_5', 'se_4', 'se_3']);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v1/static-export/jobs?domain=a+b.example&limit=2',
      '/v1/static-export/jobs?domain=a+b.example&limit=2&cursor=c1',
      '/v1/static-export/jobs?domain=a+b.example&limit=2&cursor=c2',
    ]);
  });

  it('has pages, and leaves out entries that are not jobs', async () => {
    const jobs = [null, { id: 'a', status: 'completed', prLink: 'https://x/1' }, { status: 'active' }, 'b'];
    const { server, client } = await service(ok({ jobs, nextCursor: 'c1' }));
    const list = client.agentJobs.list({ projectId: 'prj/ö', status: 'completed', cursor: 'c0' });
    expect(await list.page()).toEqual({
      jobs: [{ ...unknownAgentFields, id: 'a', status: 'completed', prLink: 'https://x/1' }],
      nextCursor: 'c1',
    });
    expect(server.received[0]?.path).toBe('/v2/agent/prj%2F%C3%B6/jobs?status=completed&cursor=c0');
  });

  it('that repeats its cursor ends with an error', async () => {
    const { server, client } = await service(page([1], 'c1'));
    const all = async (): Promise<void> => {
      for await (const _ of client.exports.list()) void _;
    };
    await expect(all()).rejects.toThrow('the service repeats a cursor');
    expect(server.received).toHaveLength(2);
  });

  it.each<[Scripted, number]>([
    [{ status: 404, text: '' }, 404],
    [{ status: 200, text: 'hello' }, 200],
    [ok({ jobs: {} }), 200],
  ])('that a service does not have is an error: %j', async (scripted, status) => {
    const { client } = await service(scripted);
    const error = await client.exports
      .list()
      .page()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AdminApiError);
    expect(error).toMatchObject({ status });
  });
});

describe('an agent job', () => {
  const ref = { projectId: 'prj/ö', id: 'job №1' };

  it('is created and messaged with only an id', async () => {
    const { server, client } = await service({ status: 226, body: { id: 'a' } }, { status: 202, text: '' });
    const active = { ...unknownAgentFields, status: 'active' };
    expect(await client.agentJobs.create({ projectId: 'prj/ö', prompt: 'Do it' })).toEqual({ ...active, id: 'a' });
    expect(await client.agentJobs.message({ ...ref, prompt: 'More' })).toEqual({ ...active, id: ref.id });
    expect(server.received.map(({ path, body }) => [path, body])).toEqual([
      ['/v2/agent/prj%2F%C3%B6/job', '{"prompt":"Do it"}'],
      ['/v2/agent/prj%2F%C3%B6/job/job%20%E2%84%961/message', '{"prompt":"More"}'],
    ]);
  });

  it.each([
    [{ status: 'thinking hard' }, { status: 'active' }],
    [
      { status: 'Completed', prLink: '', source: 'here', createdAt: 'soon' },
      { status: 'completed', prLink: null },
    ],
    [
      { status: 'failed', error: 'no disk', source: { repository: 'https://x', ref: null }, archivedAt: 0 },
      {
        ...{ status: 'failed', error: 'no disk', source: { repository: 'https://x', ref: null } },
        archivedAt: '1970-01-01T00:00:00.000Z',
      },
    ],
  ])('is read from %j', async (body, read) => {
    const { client } = await service(ok(body));
    expect(await client.agentJobs.get(ref)).toEqual({ ...unknownAgentFields, id: ref.id, ...read });
  });

  it('is canceled and archived', async () => {
    const { server, client } = await service(ok({ result: 'already-finished' }), { status: 204 });
    expect(await client.agentJobs.cancel(ref)).toEqual({ result: 'already-finished', job: null });
    expect(await client.agentJobs.archive(ref)).toMatchObject({ id: ref.id, status: 'archived' });
    expect(server.received.map(({ path }) => path.split('/').at(-1))).toEqual(['cancel', 'archive']);
  });

  it('has a log whose end can be read', async () => {
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    const { client } = await service({ status: 200, headers, text: `${'x'.repeat(5_000_000)}\nthe end` });
    expect(await client.agentJobs.log(ref, { endBytes: 7 })).toBe('the end');
    expect(await client.agentJobs.log(ref)).toHaveLength(5_000_008);
    const { client: other } = await service({ status: 200, text: '<p>Log in' });
    await expect(other.agentJobs.log(ref)).rejects.toThrow('no usable "log" (an HTML page)');
  });
});
