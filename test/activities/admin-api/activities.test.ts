import { createAdminApiActivities } from '../../../activities/admin-api/activities.ts';
import { createAdminApiClient } from '../../../client/admin-api-client.ts';
import { type Scripted, useScriptedServers } from '../../helpers/admin-api/scripted-server.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';

type Activities = ReturnType<typeof createAdminApiActivities>;

const startServer = useScriptedServers();

async function api(...script: Scripted[]) {
  const server = await startServer(script);
  const client = createAdminApiClient({
    url: `${server.url}/base/`,
    key: 'galley_secret',
    timeoutMs: 1_000,
    retry: false,
  });
  return { server, activities: createAdminApiActivities(client, { quickAsksMs: [] }) };
}

type Attempt = { attempt?: number; heartbeatDetails?: unknown };

const start = (activities: Activities, info: Attempt = {}) =>
  activityEnvironment(info).run(activities.startExport, { domain: 'docs.example.com', idempotencyKey: 'run:1:1' });
const poll = (activities: Activities, info: Attempt = {}) =>
  activityEnvironment(info).run(activities.pollExport, { jobId: 'se_1/ä' });
const bundle = (activities: Activities, info: Attempt = {}) =>
  activityEnvironment(info).run(activities.createBundle, { jobId: 'se_1' });
const cancel = (activities: Activities) => activityEnvironment().run(activities.cancelExport, { jobId: 'se_1' });

describe('starting an export', () => {
  it.each([200, 203])('accepts %i as success and needs only a job id', async (status) => {
    const { server, activities } = await api({ status, body: { jobId: 'anything at all', surprise: [1] } });
    const started = { jobId: 'anything at all', version: null, createdAt: null, ageMs: null, form: 'domain' };
    await expect(start(activities)).resolves.toEqual(started);
    expect(server.received[0]).toMatchObject({
      method: 'POST',
      path: '/base/v1/static-export/jobs',
      body: '{"domain":"docs.example.com"}',
      headers: {
        authorization: 'Bearer galley_secret',
        'idempotency-key': 'run:1:1',
        'content-type': 'application/json',
      },
    });
  });

  it('accepts a number as a job id', async () => {
    const { activities } = await api({ status: 202, body: { jobId: 17 } });
    await expect(start(activities)).resolves.toMatchObject({ jobId: '17', version: null });
  });

  it("reads the creation time of the job, and its age by the service's clock", async () => {
    const { activities } = await api({
      status: 202,
      headers: { date: 'Sat, 21 Nov 2026 08:00:10 GMT' },
      body: { jobId: 'se_1', createdAt: '2026-11-21T09:00:00+01:00' },
    });
    await expect(start(activities)).resolves.toMatchObject({ createdAt: '2026-11-21T08:00:00.000Z', ageMs: 10_000 });
  });

  it('uses a new idempotency key for each export, even if the workflow repeats its input', async () => {
    const { activities } = await api();
    const keys = [await activities.createExportKey(), await activities.createExportKey()];
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('waits, without an error in the logs, while another export of the domain is active', async () => {
    const { activities } = await api({ status: 409, body: { error: 'se_9 is active' } });
    const failure = await failureOf(start(activities, { attempt: 1 }));
    expect(failure).toMatchObject({ type: 'DomainBusy', category: 'BENIGN', nextRetryDelay: 1_000 });
    expect(failure.nonRetryable).not.toBe(true);
    expect(failure.message).toContain('se_9 is active');
    expect(await failureOf(start(activities, { attempt: 40 }))).toMatchObject({ nextRetryDelay: 15_000 });
  });
});

describe.each([
  ['startExport', start],
  ['pollExport', poll],
  ['createBundle', bundle],
] as const)('%s', (_, call) => {
  it('fails permanently on a rejection, and retries if the response is invalid', async () => {
    const { activities } = await api(
      { status: 403, body: { error: 'no plan' } },
      { status: 200, text: '<!doctype html><title>Log in</title>' },
    );
    expect(await failureOf(call(activities))).toMatchObject({ type: 'KeyRefused', nonRetryable: true });
    const unreadable = await failureOf(call(activities));
    expect(unreadable).toMatchObject({ type: 'Unavailable', message: expect.not.stringContaining('<') });
    expect(unreadable.nonRetryable).not.toBe(true);
  });
});

describe('any operation', () => {
  it.each([401, 403])('treats %i as a rejected key without retries', async (status) => {
    const { activities } = await api({ status, body: { error: 'no' } });
    const failure = await failureOf(poll(activities));
    expect(failure).toMatchObject({
      type: 'KeyRefused',
      nonRetryable: true,
      details: [{ status, retryAfterMs: null }],
    });
    expect(failure.message).toContain(`refuses (${status}): no`);
    expect(failure.message).not.toContain('galley_secret');
  });

  it.each([400, 413, 415, 422, 418])('treats %i as a permanently rejected request', async (status) => {
    const { activities } = await api({ status, body: { error: 'no' } });
    expect(await failureOf(poll(activities))).toMatchObject({ type: 'Rejected', nonRetryable: true });
  });

  it('follows no redirect, so that the key is not sent elsewhere', async () => {
    const elsewhere = await startServer([{ status: 200, body: {} }]);
    const { activities } = await api({ status: 307, headers: { location: elsewhere.url } });
    expect(await failureOf(poll(activities))).toMatchObject({
      type: 'Rejected',
      message: expect.stringContaining('check adminApi.url'),
    });
    expect(elsewhere.received).toEqual([]);
  });

  it.each<[string, Scripted]>([
    ['responds 500', { status: 500, body: { error: 'oops' } }],
    [
      'responds 502 with an HTML page',
      { status: 502, text: '<html>bad gateway', headers: { 'content-type': 'text/html' } },
    ],
    ['resets the connection', 'reset'],
    ['aborts its response', 'cut'],
    ['says nothing within the time for one call', 'silence'],
    ['responds 200 with an HTML page', { status: 200, text: '<!doctype html><title>Log in</title>' }],
    ['responds 200 with truncated JSON', { status: 200, text: '{"jobId": "se_' }],
    ['responds 200 with an empty body', { status: 200, text: '' }],
    ['responds 200 with unexpected JSON', { status: 200, body: ['jobId'] }],
  ])('retries if the service %s, and fails after a minute so that the workflow can react', async (_name, scripted) => {
    const { activities } = await api(scripted);
    const early = await failureOf(poll(activities));
    expect(early).toMatchObject({ type: 'Unavailable' });
    expect(early.nonRetryable).not.toBe(true);
    expect(early.message).not.toContain('<');
    const troubleSinceMs = Date.now() - 61_000;
    const late = await failureOf(poll(activities, { heartbeatDetails: { percent: 3, pageCount: 4, troubleSinceMs } }));
    expect(late).toMatchObject({ type: 'Unavailable', nonRetryable: true });
  });

  it.each([
    ['seconds', '7', 7_000],
    ['a date', new Date(Date.UTC(2026, 10, 21, 8, 0, 9)).toUTCString(), 9_000],
  ])('respects a short Retry-After in %s, with up to a fifth of jitter', async (_name, retryAfter, waitMs) => {
    const date = new Date(Date.UTC(2026, 10, 21, 8, 0, 0)).toUTCString();
    const { activities } = await api({ status: 429, headers: { 'retry-after': retryAfter, date } });
    const failure = await failureOf(poll(activities));
    expect(failure).toMatchObject({ type: 'RateLimited' });
    expect(failure.nextRetryDelay).toBeGreaterThanOrEqual(waitMs);
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(1.2 * waitMs);
  });

  it('passes a long Retry-After to the workflow, at most an hour', async () => {
    const { activities } = await api({ status: 429, headers: { 'retry-after': '86400' } });
    expect(await failureOf(poll(activities))).toMatchObject({
      type: 'RateLimited',
      nonRetryable: true,
      details: [{ status: 429, retryAfterMs: 3_600_000 }],
    });
  });
});

describe('polling an export', () => {
  it.each(['queued', 'RUNNING', 'paused?'])('treats the status %j as still running', async (status) => {
    const { server, activities } = await api({ status: 200, body: { status, progress: '42.5%', pageCount: '12' } });
    const mock = activityEnvironment({ attempt: 3 });
    const heartbeats: unknown[] = [];
    mock.on('heartbeat', (details: unknown) => heartbeats.push(details));
    const failure = await failureOf(mock.run(activities.pollExport, { jobId: 'se_1/ä' }));
    expect(failure).toMatchObject({ type: 'StillRunning', category: 'BENIGN', nextRetryDelay: 1_690 });
    expect(failure.message).toContain('42.5 %, 12 pages');
    expect(heartbeats).toContainEqual({ percent: 42.5, pageCount: 12, troubleSinceMs: null });
    expect(server.received[0]?.path).toBe('/base/v1/static-export/jobs/se_1%2F%C3%A4');
  });

  it.each([
    [{ status: 'completed' }, { status: 'completed', version: null, pageCount: null, exportedAt: null }],
    [
      { status: 'Completed', version: 3, pageCount: 9, updatedAt: '2026-11-21T09:00:00+01:00' },
      { status: 'completed', version: '3', pageCount: 9, exportedAt: '2026-11-21T08:00:00.000Z' },
    ],
    [{ status: 'failed' }, { status: 'failed', error: 'the service gave no reason' }],
    [
      { status: 'failed', error: 'no pages' },
      { status: 'failed', error: 'no pages' },
    ],
  ])('reads the final state from %j', async (body, finished) => {
    const { activities } = await api({ status: 200, body });
    await expect(poll(activities)).resolves.toEqual(finished);
  });

  it('polls several times in its first attempt, so that a small site completes at once', async () => {
    const server = await startServer([
      { status: 200, body: { status: 'running' } },
      { status: 200, body: { status: 'running' } },
      { status: 200, body: { status: 'completed' } },
    ]);
    const activities = createAdminApiActivities(createAdminApiClient({ url: server.url, key: 'k', retry: false }), {
      quickAsksMs: [10, 10, 10],
    });
    await expect(poll(activities, { attempt: 1 })).resolves.toMatchObject({ status: 'completed' });
    expect(server.received).toHaveLength(3);
  });

  it.each([404, 410])('treats %i as a missing job', async (status) => {
    const { activities } = await api({ status, body: { error: 'unknown' } });
    expect(await failureOf(poll(activities))).toMatchObject({ type: 'JobGone', nonRetryable: true });
  });
});

describe('requesting a bundle', () => {
  const date = 'Sat, 21 Nov 2026 08:00:00 GMT';

  it("reads the link's expiry, and its lifetime by the service's clock", async () => {
    const { activities } = await api({
      status: 201,
      headers: { date },
      body: { bundleUrl: 'https://x/b?s=1', expiresAt: '2026-11-21T10:30:00.999+01:30' },
    });
    await expect(bundle(activities)).resolves.toMatchObject({
      bundleUrl: 'https://x/b?s=1',
      expiresAt: '2026-11-21T09:00:00.999Z',
      lifetimeMs: 3_600_000,
      version: null,
    });
  });

  it.each([
    ['text', 'next Tuesday-ish'],
    ['null', null],
    ['nothing', undefined],
    ['the year 9999', '9999-12-31T23:59:59Z'],
    ['1970', 0],
    ['microseconds', Date.UTC(2026, 10, 21) * 1_000],
  ])('retries if expiresAt is %s, and reports the expected form', async (_, expiresAt) => {
    const { activities } = await api({ status: 200, headers: { date }, body: { bundleUrl: 'https://x/b', expiresAt } });
    const failure = await failureOf(bundle(activities));
    expect(failure).toMatchObject({ type: 'Unavailable', message: expect.stringContaining('unusable expiresAt') });
    expect(failure).not.toMatchObject({ nonRetryable: true });
  });

  it('reads the job again after 409: a failed job ends the cycle, and a running job leads to a retry', async () => {
    const failed = await api({ status: 409, body: {} }, { status: 200, body: { status: 'failed', error: 'no disk' } });
    expect(await failureOf(bundle(failed.activities))).toMatchObject({
      type: 'JobFailed',
      nonRetryable: true,
      message: expect.stringContaining('no disk'),
    });
    const running = await api({ status: 409, body: {} }, { status: 200, body: { status: 'running' } });
    expect(await failureOf(bundle(running.activities))).toMatchObject({ type: 'StillRunning', category: 'BENIGN' });
  });

  it.each([404, 410])('treats %i as a missing bundle', async (status) => {
    const { activities } = await api({ status, body: { error: 'unknown' } });
    expect(await failureOf(bundle(activities))).toMatchObject({
      type: 'JobGone',
      details: [{ status, retryAfterMs: null }],
    });
  });
});

describe('cancelling an export', () => {
  it.each<[Scripted, string]>([
    [{ status: 200, body: { result: 'accepted' } }, 'accepted'],
    [{ status: 202, text: '' }, 'accepted'],
    [{ status: 200, body: { result: 'already-finished' } }, 'finished'],
    [{ status: 409, body: {} }, 'finished'],
    [{ status: 404, body: {} }, 'unsupported'],
    [{ status: 405, body: {} }, 'unsupported'],
    [{ status: 501, text: 'what?' }, 'unsupported'],
  ])('with the response %j is %s', async (scripted, outcome) => {
    const { activities } = await api(scripted);
    await expect(cancel(activities)).resolves.toBe(outcome);
  });
});

describe('finding the job of a version', () => {
  const find = (activities: Activities) =>
    activityEnvironment().run(activities.findExport, { domain: 'docs.example.com', version: 'v2' });

  it('reads the list of jobs if there is one', async () => {
    const jobs = [
      { jobId: 'a', version: 'v3', status: 'completed' },
      null,
      { jobId: 'b', version: 'v2', status: 'completed' },
    ];
    const { server, activities } = await api({ status: 200, body: { jobs, nextCursor: null } });
    await expect(find(activities)).resolves.toEqual({ jobId: 'b', versions: [] });
    expect(server.received[0]?.path).toContain('domain=docs.example.com&status=completed');
  });

  it.each<[Scripted]>([[{ status: 404, body: {} }], [{ status: 405 }], [{ status: 200, text: 'hello' }]])(
    'returns nothing if the service responds %j',
    async (scripted) => {
      const { activities } = await api(scripted);
      await expect(find(activities)).resolves.toEqual({ jobId: null, versions: [] });
    },
  );
});
