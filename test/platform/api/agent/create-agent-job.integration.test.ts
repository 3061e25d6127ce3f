import { eq } from 'drizzle-orm';
import { agentJobSchema } from '../../../../contract/admin-api.ts';
import { getAgentRun } from '../../../../platform/store/agent-runs.ts';
import { projects } from '../../../../platform/store/schema/organizations.ts';
import { type Customer, startTestPlatform } from '../../../helpers/platform-api.ts';
import { createApiClient } from '../api-client.ts';
import { type AgentFixture, createPath, useAgentApi } from './agent-fixture.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('creating an agent job', () => {
  let agents: AgentFixture;
  let customer: Customer;
  useAgentApi(
    (fixture) => {
      ({ agents, customer } = fixture);
    },
    { ref: 'main' },
  );

  const sendRaw = (raw: string, headers: Record<string, string> = JSON_TYPE) =>
    agents.api.post(createPath(customer), { key: customer.key, raw, headers });

  it('returns the complete active job, starts its workflow and makes the job readable', async () => {
    const response = await agents.create(customer);
    expect(response.status).toBe(201);
    const job = agentJobSchema.strict().parse(response.body);
    expect(job).toEqual({
      id: expect.stringMatching(/^aj_[0-9a-f]{16}$/),
      status: 'active',
      source: { repository: 'https://git.example.com/docs.git', ref: 'main' },
      model: 'a-model',
      prLink: null,
      createdAt: job.updatedAt,
      updatedAt: job.createdAt,
      archivedAt: null,
      error: null,
    });
    expect(agents.platform.startedRuns).toContainEqual({ jobId: job.id, run: 1 });
    expect(await agents.read(customer, job.id)).toEqual(job);
  });

  it('returns no ref if the project has none', async () => {
    expect((await agents.created(await agents.addCustomer())).source.ref).toBeNull();
  });

  it('hides the credentials of a repository URL that was set before they were rejected', async () => {
    const { db } = agents.platform;
    for (const [repository, shown] of [
      ['https://bot:token@git.example.com/a.git', 'https://git.example.com/a.git'],
      ['https://token@git.example.com/a.git', 'https://git.example.com/a.git'],
      ['ssh://git:secret@git.example.com/a.git', 'ssh://git@git.example.com/a.git'],
      ['file:///srv/git/a.git', 'file:///srv/git/a.git'],
    ] as const) {
      await db.update(projects).set({ repository }).where(eq(projects.id, customer.project));
      expect((await agents.created(customer)).source.repository).toBe(shown);
    }
  });

  it('needs no Enterprise plan', async () => {
    expect((await agents.create(await agents.addCustomer({ plan: 'free' }))).status).toBe(201);
  });

  it('is 400 for a project without a repository, and says how to set one', async () => {
    const bare = await agents.addCustomer({ repository: null });
    const response = await agents.create(bare);
    expect(response.status).toBe(400);
    expect(response.error).toContain(`galley projects set --project ${bare.project} --repository`);
  });

  it.each([
    [{}, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ prompt: 5 }, 'prompt'],
    [{ prompt: null }, 'prompt'],
    [{ prompt: ['Do it'] }, 'prompt'],
    [{ prompt: 'x'.repeat(100_001) }, '100000'],
    [{ prompt: '𝒂'.repeat(100_001) }, '100000'],
    [{ prompt: 'Do it', ref: 'main' }, 'ref'],
    [[], 'expected object'],
    ['Do it', ''],
  ])('is 400 and names what is wrong with a body (%#)', async (body, named) => {
    const response = await agents.create(customer, body);
    expect([response.status, response.error]).toEqual([400, expect.stringContaining(named)]);
    expect(response.text.length).toBeLessThan(1500);
  });

  it.each([
    ['100,000 characters of two UTF-16 units each', '𝒂'.repeat(100_000)],
    [
      'control, bidirectional and unpaired surrogate characters',
      'a\u0000b\u001b[31m\r\n\ud800 שלום \u202e é e\u0301 \ufeff `$(id)` {{{event}}}',
    ],
  ])('accepts a prompt of %s and stores it unchanged', async (_what, prompt) => {
    const { id } = await agents.created(customer, prompt);
    const run = await getAgentRun(agents.platform.db, { jobId: id, run: 1 });
    expect(run?.prompt === prompt).toBe(true);
  });

  it('is 201 and stores the job even if its workflow cannot be started', async () => {
    const failing = await startTestPlatform(agents.database, {
      db: agents.platform.db,
      startAgentJob: () => Promise.reject(new Error('Temporal is down')),
    });
    const client = createApiClient(failing.baseUrl, agents.check);
    const response = await client.post(createPath(customer), { key: customer.key, body: { prompt: 'Do it' } });
    await failing.stop();
    expect(response.status).toBe(201);
    expect(await agents.read(customer, agentJobSchema.parse(response.body).id)).toMatchObject({ status: 'active' });
  });

  describe('with an Idempotency-Key', () => {
    const key = { 'idempotency-key': 'event-1' };
    const startsOf = (id: string) => agents.platform.startedRuns.filter(({ jobId }) => jobId === id).length;

    it('returns the first response again, also after the job progressed, and creates nothing', async () => {
      const first = await agents.create(customer, { prompt: 'Do it' }, key);
      const { id } = agentJobSchema.parse(first.body);
      await agents.complete(id);
      const again = await sendRaw(' { "prompt" : "Do it" } ', { ...JSON_TYPE, ...key });
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect(startsOf(id)).toBe(1);
      const uses = first.headers.get('ratelimit-remaining');
      expect((await agents.create(customer)).headers.get('ratelimit-remaining')).toBe(String(Number(uses) - 1));
    });

    it('is 422 with another prompt or project, and belongs to its organization only', async () => {
      expect((await agents.create(customer, { prompt: 'Do it' }, key)).status).toBe(201);
      expect((await agents.create(customer, { prompt: 'Do that' }, key)).status).toBe(422);
      const { organization, domain } = customer;
      const project = `${customer.project}_second`;
      const repository = 'https://git.example.com/b.git';
      await agents.api.adminPost('/admin/projects', { organization, project, domain: `b.${domain}`, repository });
      expect((await agents.create({ ...customer, project }, { prompt: 'Do it' }, key)).status).toBe(422);
      expect((await agents.create(await agents.addCustomer(), { prompt: 'Do it' }, key)).status).toBe(201);
    });
  });
});
