import { createAdminApiActivities } from '../../../activities/admin-api/activities.ts';
import { createAdminApiClient } from '../../../client/admin-api-client.ts';
import { type ProjectFormApi, startProjectFormApi } from '../../helpers/admin-api/project-form-api.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';

const START = { domain: 'docs.example.com', projectId: 'prj_docs', idempotencyKey: 'once' };

describe('static export in form `project`', () => {
  let api: ProjectFormApi;
  let activities: ReturnType<typeof createAdminApiActivities>;
  beforeEach(async () => {
    api = await startProjectFormApi();
    const client = createAdminApiClient({ url: api.url, key: api.key, retry: false, timeoutMs: 1_000 });
    activities = createAdminApiActivities(client, { quickAsksMs: [], form: 'auto' });
  });
  afterEach(() => api.close());

  const start = (more: object = {}, info = {}) =>
    activityEnvironment(info).run(activities.startExport, { ...START, ...more });

  it('is found once, by starts with an invalid body, which start nothing', async () => {
    expect(await start()).toMatchObject({ jobId: 'job-1', form: 'project' });
    const ref = { jobId: 'job-1', projectId: 'prj_docs' };
    await activityEnvironment().run(activities.pollExport, ref);
    expect(api.requests).toEqual([
      { method: 'POST', path: '/v1/static-export/jobs', status: 404 },
      { method: 'POST', path: '/v1/static-export/prj_docs/jobs', status: 400 },
      { method: 'POST', path: '/v1/static-export/prj_docs/jobs', status: 202 },
      { method: 'GET', path: '/v1/static-export/prj_docs/jobs/job-1', status: 200 },
    ]);
  });

  it('sends the base path if there is one', async () => {
    await start({ basePath: '/docs' });
    await start({ projectId: 'prj_other' });
    expect(api.jobs.map(({ basePath }) => basePath)).toEqual(['/docs', undefined]);
  });

  it('gives a fresh link on each read of a completed job, and waits for one that runs', async () => {
    await start();
    const ref = { jobId: 'job-1', projectId: 'prj_docs' };
    const link = (): ReturnType<typeof activities.createBundle> =>
      activityEnvironment().run(activities.createBundle, ref);
    const [first, second] = [await link(), await link()];
    expect(first.bundleUrl).not.toBe(second.bundleUrl);
    expect(first.lifetimeMs).toBeGreaterThan(3_590_000);
    api.behaviour.jobDurationMs = 60_000;
    await start({ projectId: 'prj_other' });
    const running = { jobId: 'job-2', projectId: 'prj_other' };
    const failure = await failureOf(activityEnvironment().run(activities.createBundle, running));
    expect(failure.type).toBe('StillRunning');
  });

  it('has no cancellation, list and report: nothing is requested, and the guards say what they did not check', async () => {
    await start();
    const before = api.requests.length;
    const ref = { jobId: 'job-1', projectId: 'prj_docs' };
    expect(await activityEnvironment().run(activities.cancelExport, ref)).toBe('unsupported');
    const search = { ...START, version: '1' };
    expect(await activityEnvironment().run(activities.findExport, search)).toEqual({ jobId: null, versions: [] });
    expect(api.requests).toHaveLength(before);
    const guards = { maxShrink: 0.2, maxNewlyBroken: 5, startPage: true };
    const input = { ...ref, servedJobId: 'job-1', domain: START.domain, guards };
    expect(await activityEnvironment().run(activities.judgeExport, input)).toEqual({
      reasons: [],
      notChecked: ['maxShrink', 'maxNewlyBroken', 'startPage'],
    });
  });

  it('counts a start whose response was lost, also after its worker was killed, and starts once more', async () => {
    let details: unknown;
    const environment = activityEnvironment();
    environment.on('heartbeat', (heartbeat) => {
      details = heartbeat;
    });
    let isLost = true;
    api.behaviour.fault = ({ method, path }) =>
      method === 'POST' && path.includes('prj_') && isLost ? 'drop-after' : undefined;
    const known = createAdminApiActivities(createAdminApiClient({ url: api.url, key: api.key, retry: false }), {
      form: 'project',
    });
    const failure = await failureOf(environment.run(known.startExport, START));
    expect([failure.type, failure.nonRetryable]).toEqual(['Unavailable', false]);
    isLost = false;
    const again = await activityEnvironment({ attempt: 2, heartbeatDetails: details }).run(known.startExport, START);
    expect(again).toMatchObject({ jobId: 'job-2', lostStarts: 1 });
  });

  it('waits for the end of a lost job', async () => {
    api.behaviour.jobDurationMs = 60_000;
    await start();
    const failure = await failureOf(start());
    expect(failure.type).toBe('DomainBusy');
  });

  it('without a projectId says what is missing, and retries', async () => {
    const failure = await failureOf(start({ projectId: undefined }));
    expect([failure.type, failure.message]).toEqual(['Unavailable', expect.stringContaining('projectId')]);
  });

  it('leaves a 429 without Retry-After to the workflow', async () => {
    api.behaviour.startsPerHour = 0;
    const failure = await failureOf(start());
    expect([failure.type, failure.nonRetryable, failure.details]).toEqual([
      'RateLimited',
      true,
      [{ status: 429, retryAfterMs: null }],
    ]);
  });
});
