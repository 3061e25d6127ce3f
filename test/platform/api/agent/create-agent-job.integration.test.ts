import { eq } from 'drizzle-orm';
import { agentJob } from '../../../../contract/admin-api.ts';
import { getAgentRun } from '../../../../platform/store/agent-runs.ts';
import { projects } from '../../../../platform/store/schema/projects.ts';
import { type Customer, startTestPlatform } from '../../../helpers/platform-api.ts';
import { createApiClient } from '../api-client.ts';
import { type AgentBench, createPath, useAgentBench } from './agent-bench.ts';

const DAY_MS = 86_400_000;
const JSON_TYPE = { 'content-type': 'application/json' };

describe('creating an agent job', () => {
  let bench: AgentBench;
  let customer: Customer;
  useAgentBench(
    (given) => {
      ({ bench, customer } = given);
    },
    { ref: 'main' },
  );

  const sendRaw = (raw: string, headers: Record<string, string> = JSON_TYPE) =>
    bench.api.post(createPath(customer), { key: customer.key, raw, headers });

  it('answers the active job whole, asks for its workflow and shows it to whoever reads it', async () => {
    const answer = await bench.create(customer);
    expect(answer.status).toBe(201);
    const job = agentJob.strict().parse(answer.body);
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
    expect(bench.platform.startedRuns).toContainEqual({ jobId: job.id, run: 1 });
    expect(await bench.read(customer, job.id)).toEqual(job);
  });

  it('has no ref where the project names none', async () => {
    expect((await bench.created(await bench.addCustomer())).source.ref).toBeNull();
  });

  it('shows no credentials of a repository that was named before they were refused', async () => {
    const { db } = bench.platform;
    for (const [repository, shown] of [
      ['https://bot:token@git.example.com/a.git', 'https://git.example.com/a.git'],
      ['https://token@git.example.com/a.git', 'https://git.example.com/a.git'],
      ['ssh://git:secret@git.example.com/a.git', 'ssh://git@git.example.com/a.git'],
      ['file:///srv/git/a.git', 'file:///srv/git/a.git'],
    ] as const) {
      await db.update(projects).set({ repository }).where(eq(projects.id, customer.project));
      expect((await bench.created(customer)).source.repository).toBe(shown);
    }
  });

  it('needs no Enterprise plan', async () => {
    expect((await bench.create(await bench.addCustomer({ plan: 'free' }))).status).toBe(201);
  });

  it('is 400 for a project without a repository, and says how to name one', async () => {
    const bare = await bench.addCustomer({ repository: null });
    const answer = await bench.create(bare);
    expect(answer.status).toBe(400);
    expect(answer.error).toContain(`galley projects set --project ${bare.project} --repository`);
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
    const answer = await bench.create(customer, body);
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(named)]);
    expect(answer.text.length).toBeLessThan(1500);
  });

  it.each(['', '{"prompt":', 'null', '{"prompt": "a"} x', '{"prompt": "\u0000"}'])(
    'is 400 for the body %j',
    async (raw) => {
      expect((await sendRaw(raw)).status).toBe(400);
    },
  );

  it('is 415 for anything but JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      expect([type, (await sendRaw('{"prompt":"a"}', { 'content-type': type })).status]).toEqual([type, 415]);
    }
    expect((await sendRaw('{"prompt":"a"}', { 'content-type': 'application/vnd.a+json' })).status).toBe(201);
  });

  it('is 413 for a body over 1 MiB and 201 for one of just 1 MiB', async () => {
    const exact = '{"prompt":"a"}'.padEnd(1024 * 1024, ' ');
    expect((await sendRaw(`${exact} `)).status).toBe(413);
    expect((await sendRaw(exact)).status).toBe(201);
  });

  it.each([
    ['100,000 characters', 'x'.repeat(100_000)],
    ['100,000 characters of two UTF-16 units each', '𝒂'.repeat(100_000)],
    ['NUL and other controls', 'a\u0000b\u0007\u001b[31m\r\n\t\u007f'],
    ['lone surrogates', '\ud800 a \udc00'],
    ['right-to-left text and overrides', 'שלום \u202e عالم \u2066x\u2069'],
    ['composed and decomposed letters', 'é e\u0301 \ufeff'],
    ['shell, template and header metacharacters', '`$(id)`; {{{event}}} <%= x %> \r\nBcc: a@example.com\r\n\r\n.\r\n'],
  ])('takes a prompt of %s and keeps it to the last character', async (_what, prompt) => {
    const { id } = await bench.created(customer, prompt);
    const run = await getAgentRun(bench.platform.db, { jobId: id, run: 1 });
    expect(run?.prompt === prompt).toBe(true);
  });

  it('happens, and is answered 201, when its workflow cannot be started', async () => {
    const lame = await startTestPlatform(bench.database, {
      db: bench.platform.db,
      startAgentJob: () => Promise.reject(new Error('Temporal is away')),
    });
    const client = createApiClient(lame.baseUrl, bench.check);
    const answer = await client.post(createPath(customer), { key: customer.key, body: { prompt: 'Do it' } });
    await lame.stop();
    expect(answer.status).toBe(201);
    expect(await bench.read(customer, agentJob.parse(answer.body).id)).toMatchObject({ status: 'active' });
  });

  describe('with an Idempotency-Key', () => {
    const key = { 'idempotency-key': 'event-1' };
    const startsOf = (id: string) => bench.platform.startedRuns.filter(({ jobId }) => jobId === id).length;

    it('gives the first answer again, also after the job went on, and makes nothing', async () => {
      const first = await bench.create(customer, { prompt: 'Do it' }, key);
      const { id } = agentJob.parse(first.body);
      await bench.complete(id);
      const again = await sendRaw(' { "prompt" : "Do it" } ', { ...JSON_TYPE, ...key });
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect(startsOf(id)).toBe(1);
      const uses = first.headers.get('ratelimit-remaining');
      expect((await bench.create(customer)).headers.get('ratelimit-remaining')).toBe(String(Number(uses) - 1));
    });

    it('is 422 with another prompt or project, and belongs to its organization only', async () => {
      expect((await bench.create(customer, { prompt: 'Do it' }, key)).status).toBe(201);
      expect((await bench.create(customer, { prompt: 'Do that' }, key)).status).toBe(422);
      const { organization, domain } = customer;
      const project = `${customer.project}_second`;
      const repository = 'https://git.example.com/b.git';
      await bench.api.adminPost('/admin/projects', { organization, project, domain: `b.${domain}`, repository });
      expect((await bench.create({ ...customer, project }, { prompt: 'Do it' }, key)).status).toBe(422);
      expect((await bench.create(await bench.addCustomer(), { prompt: 'Do it' }, key)).status).toBe(201);
    });

    it('keeps no refusal: what was refused may succeed later', async () => {
      const bare = await bench.addCustomer({ repository: null });
      expect((await bench.create(bare, { prompt: 'Do it' }, key)).status).toBe(400);
      const repository = 'https://git.example.com/b.git';
      const change = { project: bare.project, repository };
      await bench.api.request('PATCH', '/admin/projects', { key: 'operator-token-of-the-tests', body: change });
      expect((await bench.create(bare, { prompt: 'Do it' }, key)).status).toBe(201);
    });

    it('is forgotten after 30 days', async () => {
      const first = agentJob.parse((await bench.create(customer, { prompt: 'Do it' }, key)).body);
      bench.platform.advance(30 * DAY_MS - 60_000);
      expect(agentJob.parse((await bench.create(customer, { prompt: 'Do it' }, key)).body).id).toBe(first.id);
      bench.platform.advance(120_000);
      expect(agentJob.parse((await bench.create(customer, { prompt: 'Do it' }, key)).body).id).not.toBe(first.id);
    });

    it.each(['', 'a b', 'x'.repeat(256), 'ä'])('is 400 for the key %j', async (wrong) => {
      const answer = await bench.create(customer, { prompt: 'Do it' }, { 'idempotency-key': wrong });
      expect([answer.status, answer.error]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    });
  });
});
