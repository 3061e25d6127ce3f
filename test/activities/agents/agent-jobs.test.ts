import { createAgentJobActivities } from '../../../activities/agents/activities.ts';
import { createReadRuleSettings } from '../../../activities/agents/read-rule-settings.ts';
import { createAdminApiClient } from '../../../client/admin-api-client.ts';
import type { SiteConfig } from '../../../contract/galley-config.ts';
import { galleyConfig } from '../../../programs/config/galley-yaml.ts';
import { type Scripted, useScriptedServers } from '../../helpers/admin-api/scripted-server.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';

type Activities = ReturnType<typeof createAgentJobActivities>;

const startServer = useScriptedServers();

function siteOf(prompt: string, site: object = { projectId: 'prj/ö' }, more: object = {}): SiteConfig {
  const rule = { name: 'changelog', on: 'publish', prompt, remindAfter: '2d', reviewers: ['ada@example.com'], ...more };
  const config = galleyConfig.parse({
    adminApi: { url: 'http://127.0.0.1', key: 'unused' },
    sites: { docs: { domain: 'docs.example.com', agent: [rule], ...site } },
  });
  const { docs } = config.sites;
  if (docs === undefined) throw new Error('The configuration has no site');
  return docs;
}

async function api(script: Scripted[], site: SiteConfig | undefined = siteOf('Mention {{ event.title }}.')) {
  const server = await startServer(script);
  const client = createAdminApiClient({
    url: `${server.url}/base/`,
    key: 'galley_secret',
    timeoutMs: 1_000,
    retry: false,
  });
  const readSite = (name: string): SiteConfig | undefined => (name === 'docs' ? site : undefined);
  return { server, activities: createAgentJobActivities(client, { readSite, quickAsksMs: [] }) };
}

const at = '2026-11-21T08:00:00Z';
const event = { source: 's', topic: 't', action: 'publish', id: '1', title: 'Start', url: '', author: '', at } as const;

const names = { site: 'docs', rule: 'changelog' };
const happened = { events: [event], eventCount: 1 };
const render = (activities: Activities, of = names) =>
  activityEnvironment().run(activities.renderAgentPrompt, { ...of, ...happened });
const create = (activities: Activities, what = rendered) => activityEnvironment().run(activities.createAgentJob, what);
const rendered = { ...names, projectId: 'prj/ö', prompt: 'Mention Start.', idempotencyKey: 'run:1' };
const job = { projectId: 'prj/ö', jobId: 'job №1/2' };
const poll = (activities: Activities, info: Parameters<typeof activityEnvironment>[0] = {}) =>
  activityEnvironment(info).run(activities.pollAgentJob, job);
const cancel = (activities: Activities) => activityEnvironment().run(activities.cancelAgentJob, job);

describe('rendering a prompt', () => {
  it('fills in the template, and names the project', async () => {
    const { activities } = await api([]);
    await expect(render(activities)).resolves.toEqual({ projectId: 'prj/ö', prompt: 'Mention Start.' });
  });

  it('for an unknown site or rule fails so that another worker can retry', async () => {
    const { activities } = await api([], siteOf('x'));
    const unknown = { type: 'NotConfigured', nonRetryable: false };
    expect(await failureOf(render(activities, { ...names, site: 'gone' }))).toMatchObject(unknown);
    expect(await failureOf(render(activities, { ...names, rule: 'other' }))).toMatchObject(unknown);
  });

  it.each<[string, SiteConfig | undefined, typeof names, string]>([
    ['a site without a project', siteOf('x', {}), names, "needs the site's projectId"],
    ['a prompt that comes out empty', siteOf('{{ event.url }} \n'), names, 'is empty for this event'],
  ])('for %s is rejected', async (_, site, of, message) => {
    const { activities } = await api([], site);
    const failure = await failureOf(render(activities, of));
    expect(failure).toMatchObject({ type: 'Rejected', nonRetryable: true, message: expect.stringContaining(message) });
  });
});

describe('creating an agent job', () => {
  it.each([200, 226])('accepts %i as success, and needs only an id', async (status) => {
    const { server, activities } = await api([{ status, body: { id: 'job №1/2', surprise: true } }]);
    await expect(create(activities)).resolves.toEqual(job);
    expect(server.received[0]).toMatchObject({
      method: 'POST',
      path: '/base/v2/agent/prj%2F%C3%B6/job',
      body: '{"prompt":"Mention Start."}',
      headers: {
        authorization: 'Bearer galley_secret',
        'idempotency-key': 'run:1',
        'content-type': 'application/json',
      },
    });
  });

  it('with a long Retry-After fails with that time for the workflow', async () => {
    const { activities } = await api([{ status: 429, headers: { 'retry-after': '1800' }, body: { error: 'hourly' } }]);
    expect(await failureOf(create(activities))).toMatchObject({
      type: 'RateLimited',
      nonRetryable: true,
      details: [{ status: 429, retryAfterMs: 1_800_000 }],
    });
  });

  it('is rejected with a hint at the existing job if its key was used for another prompt', async () => {
    const { activities } = await api([{ status: 422, body: { error: 'This Idempotency-Key was used' } }]);
    expect(await failureOf(create(activities))).toMatchObject({
      type: 'Rejected',
      details: [{ status: 422 }],
      message: expect.stringMatching(/refuses \(422\): .*was used \(.* that attempt's job exists\)$/),
    });
  });

  it('sends the rendered text and project, even if the rule has changed', async () => {
    const { server, activities } = await api(
      [{ status: 201, body: { id: 'x' } }],
      siteOf('Edited.', { projectId: 'p2' }),
    );
    await create(activities);
    await create(activities, { ...rendered, rule: 'gone' });
    for (const request of server.received) {
      expect(request).toMatchObject({ path: '/base/v2/agent/prj%2F%C3%B6/job', body: '{"prompt":"Mention Start."}' });
    }
    expect(server.received).toHaveLength(2);
  });
});

// ../admin-api/activities.test.ts covers the failures that all operations have in common.
describe.each([
  ['createAgentJob', (activities: Activities) => create(activities)],
  ['pollAgentJob', (activities: Activities) => poll(activities)],
] as const)('%s', (_, call) => {
  it('fails permanently on a rejection, and retries if the response is invalid', async () => {
    const { activities } = await api([
      { status: 403, body: { error: 'no' } },
      { status: 200, body: [] },
    ]);
    expect(await failureOf(call(activities))).toMatchObject({ type: 'KeyRefused', nonRetryable: true });
    const unreadable = await failureOf(call(activities));
    expect(unreadable.type).toBe('Unavailable');
    expect(unreadable.nonRetryable).not.toBe(true);
  });
});

describe('polling an agent job', () => {
  it.each(['ACTIVE', 'thinking hard'])('treats the status %j as still running', async (status) => {
    const { server, activities } = await api([{ status: 200, body: { id: 'x', status, prLink: null } }]);
    const failure = await failureOf(poll(activities, { attempt: 3 }));
    expect(failure).toMatchObject({ type: 'StillRunning', category: 'BENIGN', nextRetryDelay: 1_690 });
    expect(failure.nonRetryable).not.toBe(true);
    expect(server.received[0]).toMatchObject({
      method: 'GET',
      path: '/base/v2/agent/prj%2F%C3%B6/job/job%20%E2%84%961%2F2',
    });
  });

  const prLink = 'https://forge.test/acme/docs/pull/7';
  it.each<[object, object]>([
    [
      { status: 'completed', prLink },
      { status: 'completed', prLink, error: null },
    ],
    [
      { status: 'Completed', prLink: null },
      { status: 'completed', prLink: null, error: null },
    ],
    [{ status: 'completed' }, { status: 'completed', prLink: null, error: null }],
    [
      { status: 'archived', prLink, archivedAt: at },
      { status: 'archived', prLink, error: null },
    ],
    [
      { status: 'failed', error: 'no disk' },
      { status: 'failed', prLink: null, error: 'no disk' },
    ],
    [
      { status: 'failed', prLink: '/pull/7', error: 'no disk' },
      { status: 'failed', prLink: null, error: 'no disk' },
    ],
    [{ status: 'failed' }, { status: 'failed', prLink: null, error: null }],
    [
      { status: 'failed', error: { code: 7 } },
      { status: 'failed', prLink: null, error: null },
    ],
  ])('reads the final state from %j', async (body, finished) => {
    const { activities } = await api([{ status: 200, body }]);
    await expect(poll(activities)).resolves.toEqual(finished);
  });

  it.each(['javascript:alert(1)', 'file:///etc/passwd', '/pull/7', 7, `https://x/${'y'.repeat(3_000)}`])(
    'rejects the unsafe pull request link %j',
    async (link) => {
      const { activities } = await api([{ status: 200, body: { status: 'completed', prLink: link } }]);
      expect(await failureOf(poll(activities))).toMatchObject({ type: 'Rejected', nonRetryable: true });
    },
  );

  it.each([404, 410])('takes %i for a job that is gone', async (status) => {
    const { activities } = await api([{ status, body: { error: 'unknown' } }]);
    expect(await failureOf(poll(activities))).toMatchObject({ type: 'JobGone', nonRetryable: true });
  });

  it('polls several times in its first attempt, so that a small change completes at once', async () => {
    const running = { status: 200, body: { status: 'active' } };
    const server = await startServer([running, running, { status: 200, body: { status: 'completed', prLink } }]);
    const client = createAdminApiClient({ url: server.url, key: 'k', retry: false });
    const activities = createAgentJobActivities(client, { readSite: () => undefined, quickAsksMs: [10, 10] });
    await expect(poll(activities, { attempt: 1 })).resolves.toMatchObject({ prLink });
    expect(server.received).toHaveLength(3);
  });
});

describe("an agent's last message", () => {
  const read = (activities: Activities) => activityEnvironment().run(activities.readLastWords, job);
  const plain = { 'content-type': 'text/plain; charset=utf-8' };

  it('is the end of its log, also of a long one, without control characters', async () => {
    const long = `${'x'.repeat(99)}\n`.repeat(60_000);
    const end =
      '=== run 2, begun 2026-11-21T08:00:00.000Z ===\n\u001b[31mI have\u001b[0m no\u0007 tools,\r\n\n  sorry. \n';
    const { server, activities } = await api([{ status: 200, headers: plain, text: long + end }]);
    const said = String(await read(activities)).split('\n');
    expect(said).toHaveLength(5);
    expect(said.slice(-2)).toEqual(['I have no tools,', 'sorry.']);
    expect(server.received[0]?.path).toBe('/base/v2/agent/prj%2F%C3%B6/job/job%20%E2%84%961%2F2/log');
  });

  it.each<[string, Scripted]>([
    ['an empty log', { status: 200, headers: plain, text: '' }],
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, text: '<p>Hello' }],
    ['no log of jobs', { status: 404, body: { error: 'no such path' } }],
    ['another method there', { status: 405, body: {} }],
  ])('is null if the service has %s', async (_, answer) => {
    const { activities } = await api([answer]);
    await expect(read(activities)).resolves.toBeNull();
  });
});

describe('sending an agent job a follow-up', () => {
  const message = { ...job, prompt: 'Shorter.', idempotencyKey: 'run:review:7' };
  const send = (activities: Activities) => activityEnvironment().run(activities.messageAgentJob, message);

  it('sends the prompt with its key', async () => {
    const { server, activities } = await api([{ status: 200, body: { id: 'job №1/2', status: 'active' } }]);
    await expect(send(activities)).resolves.toBe('accepted');
    expect(server.received).toMatchObject([
      {
        method: 'POST',
        path: '/base/v2/agent/prj%2F%C3%B6/job/job%20%E2%84%961%2F2/message',
        body: '{"prompt":"Shorter."}',
        headers: { 'idempotency-key': 'run:review:7' },
      },
    ]);
  });

  it.each([404, 405, 410, 501])('says on %i that the service takes none', async (status) => {
    const { activities } = await api([{ status, body: { error: 'no such path' } }]);
    await expect(send(activities)).resolves.toBe('unsupported');
  });

  it('waits while the job is active, and gives up on an archived one', async () => {
    const busy = { status: 409, body: { error: 'not now' } };
    const state = (status: string): Scripted => ({ status: 200, body: { id: 'x', status, prLink: null } });
    const { activities } = await api([busy, state('active'), busy, state('archived'), busy, { status: 404 }]);
    expect(await failureOf(send(activities))).toMatchObject({ type: 'StillRunning', category: 'BENIGN' });
    const rejected = { type: 'Rejected', nonRetryable: true, message: expect.stringContaining('409: not now') };
    expect(await failureOf(send(activities))).toMatchObject(rejected);
    expect(await failureOf(send(activities))).toMatchObject(rejected);
  });
});

describe('cancelling an agent job', () => {
  it("uses the job's path", async () => {
    const { server, activities } = await api([{ status: 200, body: { result: 'accepted' } }, { status: 404 }]);
    await expect(cancel(activities)).resolves.toBe('accepted');
    expect(server.received[0]?.path).toBe('/base/v2/agent/prj%2F%C3%B6/job/job%20%E2%84%961%2F2/cancel');
    await expect(cancel(activities)).resolves.toBe('unsupported');
  });
});

describe("a rule's settings", () => {
  const deps = { operators: ['ops@example.com'], forge: true, mail: false, notify: [], searchAttributes: true };

  it('are read each time, with their defaults, and contain no template', async () => {
    const read = createReadRuleSettings({ ...deps, readSite: () => siteOf('a secret {{ event.title }}') });
    const settings = await read({ site: 'docs', rule: 'changelog' });
    expect(settings).toEqual({
      ...deps,
      rules: ['changelog'],
      reviewers: ['ada@example.com'],
      quietPeriodMs: 30_000,
      maxPerHour: 6,
      remindAfterMs: [172_800_000],
      expireAfterMs: 30 * 86_400_000,
      tellAfterMs: 600_000,
    });
    expect(JSON.stringify(settings)).not.toContain('secret');
  });

  it('have the number of follow-ups if it is set', async () => {
    const read = createReadRuleSettings({ ...deps, readSite: () => siteOf('x', {}, { followUps: { max: 3 } }) });
    expect(await read({ site: 'docs', rule: 'changelog' })).toMatchObject({ followUps: { max: 3 } });
  });

  it('of an unknown rule are a failure that another worker can retry', async () => {
    const read = createReadRuleSettings({ ...deps, readSite: (site) => (site === 'docs' ? siteOf('x') : undefined) });
    const unknown = { type: 'NotConfigured', nonRetryable: false };
    await expect(read({ site: 'docs', rule: 'other' })).rejects.toMatchObject(unknown);
    await expect(read({ site: 'gone', rule: 'changelog' })).rejects.toMatchObject(unknown);
  });

  it.each([
    ['with', true, ['ops@example.com']],
    ['without', false, []],
  ])('name the operators in that failure only %s a mail server', async (_how, mail, operators) => {
    const read = createReadRuleSettings({ ...deps, mail, readSite: () => undefined });
    await expect(read({ site: 'docs', rule: 'changelog' })).rejects.toMatchObject({ details: [{ operators }] });
  });
});
