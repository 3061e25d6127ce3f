import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { setProject } from '../../../platform/admin/projects.ts';
import { createForgeDispatcher, type ForgeDispatcher } from '../../../platform/forge/deliveries/create-dispatcher.ts';
import { deliveryRetryDelayMs } from '../../../platform/forge/deliveries/retry-delay.ts';
import { createBranchWatch } from '../../../platform/forge/watch-branches.ts';
import { leaseDelivery } from '../../../platform/store/forge-deliveries.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { BRANCH, type ForgeStage, startForgeStage } from './forge-stage.ts';
import { type Received, SECRET, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const lines: string[] = [];

describe('webhooks of the embedded forge', () => {
  let stage: ForgeStage;
  let receiver: WebhookReceiver;
  let dispatchers: ForgeDispatcher[] = [];

  beforeAll(async () => {
    stage = await startForgeStage(pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }));
  });
  afterAll(() => stage?.stop());
  beforeEach(async () => {
    receiver = await startWebhookReceiver();
  });
  afterEach(async () => {
    await Promise.all(dispatchers.map((each) => each.stop()));
    dispatchers = [];
    await receiver.stop();
    await stage.platform.db.execute('delete from forge_deliveries');
  });

  function dispatch(options: { timeoutMs?: number } = {}): ForgeDispatcher {
    const dispatcher = createForgeDispatcher({ ...stage.platform, logger: stage.logger, intervalMs: 50, ...options });
    dispatcher.start();
    dispatchers.push(dispatcher);
    return dispatcher;
  }

  async function proposal() {
    const repository = await stage.createProject({ webhookUrl: receiver.url, webhookSecret: SECRET });
    const headSha = await repository.commit(BRANCH, { 'new.md': 'New\n' });
    return { repository, headSha, opened: await stage.open(repository) };
  }
  const outbox = async () => (await stage.platform.db.execute('select * from forge_deliveries order by sequence')).rows;
  const arrived = (count: number): Promise<Received[]> =>
    waitFor(() => receiver.received.length >= count && receiver.received, { describe: `took ${count} webhooks` });
  /** Lets what waits for its next attempt be due. */
  const hurry = () => stage.platform.db.execute("update forge_deliveries set next_attempt_at = now() - interval '1 s'");

  it('tell the whole life of a pull request in its order, signed, as GitHub tells it', async () => {
    dispatch();
    const { repository, headSha, opened } = await proposal();
    const next = await repository.commit(
      BRANCH,
      { 'more.md': 'More\n' },
      'Say more\n\nGalley-Job: aj_0123456789abcdef',
    );
    await createBranchWatch(stage.forgeContext()).look();
    await stage.forge.updatePullRequest(opened.url, { title: 'Another title' });
    await stage.post(`${opened.url}/reviews`, { json: { event: 'APPROVE', reviewer: 'ada', body: 'Good.' } });
    const before = await repository.git('rev-parse', 'main');
    await stage.post(`${opened.url}/merge`);
    const sha = await repository.git('rev-parse', 'main');
    const received = await arrived(6);
    expect(received.map(({ event, verified, body }) => [event, verified, body.action])).toEqual([
      ['pull_request', true, 'opened'],
      ['pull_request', true, 'synchronize'],
      ['pull_request', true, 'edited'],
      ['pull_request_review', true, 'submitted'],
      ['pull_request', true, 'closed'],
      ['push', true, undefined],
    ]);
    const [first, moved, edited, review, closed, push] = received.map(({ body }) => body);
    expect(first).toMatchObject({
      number: 1,
      pull_request: {
        html_url: opened.url,
        state: 'open',
        merged: false,
        merge_commit_sha: null,
        title: 'Name the handbook',
        user: { login: 'galley' },
        head: { ref: BRANCH, sha: headSha },
      },
      repository: { full_name: 'acme/docs', clone_url: repository.url },
      sender: { login: 'galley' },
    });
    expect(moved).toMatchObject({ before: headSha, after: next, pull_request: { head: { sha: next } } });
    expect(edited).toMatchObject({ changes: { title: { from: 'Name the handbook' } } });
    expect(review).toMatchObject({
      review: { state: 'approved', user: { login: 'ada' }, body: 'Good.', commit_id: next },
      pull_request: { html_url: opened.url },
    });
    expect(closed).toMatchObject({
      pull_request: { state: 'closed', merged: true, merge_commit_sha: sha, html_url: opened.url },
      sender: { login: 'operator' },
    });
    const message = `Merge pull request #1 from ${BRANCH}\n\nAnother title`;
    expect(push).toMatchObject({
      ref: 'refs/heads/main',
      before,
      after: sha,
      deleted: false,
      commits: [{ id: headSha }, { id: next, message: expect.stringContaining('Galley-Job') }, { id: sha, message }],
      head_commit: { id: sha, message, author: { name: 'Galley', email: 'galley@galley.invalid' } },
    });
    expect(received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Galley/),
    });
    expect(new Set(received.map(({ id }) => id)).size).toBe(6);
    await waitFor(async () => (await outbox()).every((row) => row.delivered_at !== null), { describe: 'settled' });
    expect((await outbox()).every((row) => row.attempt_count === 1)).toBe(true);
  });

  it('tell a close as closed and not merged, and nothing twice', async () => {
    dispatch();
    dispatch();
    const { opened } = await proposal();
    for (const _ of [1, 2]) await stage.post(`${opened.url}/close`);
    for (const _ of [1, 2]) {
      await stage.post(`${opened.url}/reviews`, { json: { event: 'COMMENT', reviewer: 'ada', body: 'Why?' } });
      await stage.forge.updatePullRequest(opened.url, { body: 'As asked.' });
    }
    const received = await arrived(3);
    await waitFor(async () => (await outbox()).every((row) => row.delivered_at !== null), { describe: 'settled' });
    expect(received.map(({ body }) => body.action)).toEqual(['opened', 'closed', 'submitted']);
    expect(received[1]?.body).toMatchObject({
      pull_request: { state: 'closed', merged: false, merge_commit_sha: null },
    });
  });

  it('are sent again under the same id, byte for byte, until they are taken', async () => {
    receiver.answers.push(500, 401, 404, 302, 202);
    dispatch();
    await proposal();
    for (let attempts = 1; attempts <= 4; attempts += 1) {
      const [row] = await waitFor(
        async () => {
          const rows = await outbox();
          return rows[0]?.attempt_count === attempts && rows[0].lease_until === null && rows;
        },
        { describe: `noted attempt ${attempts}` },
      );
      expect(row).toMatchObject({
        delivered_at: null,
        failed_at: null,
        last_error: expect.stringMatching(/^answered \d+\b/),
      });
      await hurry();
    }
    const received = await arrived(5);
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    expect(received.every(({ verified }) => verified)).toBe(true);
    expect(new Set(received.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    await waitFor(async () => (await outbox())[0]?.delivered_at, { describe: 'delivered' });
  });

  it('wait longer after each attempt, and are given up after a day', async () => {
    expect([1, 2, 3, 10, 11, 500].map(deliveryRetryDelayMs)).toEqual([1_000, 2_000, 4_000, 512_000, 600_000, 600_000]);
    receiver.answers.push(503);
    await proposal();
    await stage.platform.db.execute("update forge_deliveries set created_at = now() - interval '1 day'");
    dispatch();
    const row = await waitFor(async () => (await outbox()).find((each) => each.failed_at !== null), {
      describe: 'given up',
    });
    expect(row).toMatchObject({ last_error: 'answered 503', attempt_count: 1, delivered_at: null });
  });

  it('are given up at once where the receiver says that it will never take them', async () => {
    receiver.answers.push(400);
    dispatch();
    await proposal();
    await waitFor(async () => (await outbox())[0]?.failed_at, { describe: 'given up' });
    expect(receiver.received).toHaveLength(1);
  });

  it('survive a receiver that hangs, and one that is away', async () => {
    // At every attempt until the other receiver is named, however many a busy machine lets come before.
    for (let attempt = 0; attempt < 100; attempt += 1) receiver.answers.push('nothing');
    dispatch({ timeoutMs: 300 });
    await proposal();
    await waitFor(async () => (await outbox())[0]?.last_error === 'no answer in time', { describe: 'timed out' });
    const { project } = await stage.createProject();
    await stage.platform.db.execute(`update forge_deliveries set project_id = '${project}'`);
    await setProject(stage.platform.db, { project, settings: { webhookUrl: 'http://127.0.0.1:9/' } });
    await hurry();
    await waitFor(async () => (await outbox())[0]?.last_error === 'ECONNREFUSED', { describe: 'refused' });
  });

  it('are sent by another process where one died with them in its hands', async () => {
    await proposal();
    expect(await leaseDelivery(stage.platform.db, { token: 'of the dead', leaseMs: 700 })).toMatchObject({
      attemptCount: 0,
    });
    dispatch();
    dispatch();
    const received = await arrived(1);
    await waitFor(async () => (await outbox())[0]?.delivered_at, { describe: 'delivered' });
    expect(received).toHaveLength(1);
  });

  it('are given back where the process is stopped while it sends', async () => {
    receiver.answers.push('nothing');
    const first = dispatch();
    await proposal();
    await arrived(1);
    await first.stop();
    expect((await outbox())[0]).toMatchObject({ lease_until: null, delivered_at: null, failed_at: null });
    dispatch();
    const received = await arrived(2);
    expect(received[0]?.id).toBe(received[1]?.id);
  });

  it('are delivered once their status says so, though the answer never ends', async () => {
    receiver.answers.push('half');
    dispatch({ timeoutMs: 500 });
    await proposal();
    const row = await waitFor(
      async () => (await outbox()).find((each) => each.lease_until === null && each.attempt_count),
      {
        describe: 'settled',
      },
    );
    expect(row).toMatchObject({ delivered_at: expect.anything(), last_error: null, attempt_count: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  it('are delivered where the process is stopped while such an answer is read', async () => {
    receiver.answers.push('half');
    const first = dispatch({ timeoutMs: 60_000 });
    await proposal();
    await arrived(1);
    await waitFor(() => receiver.halfAnswered, { describe: 'answered by half' });
    // What is on its way over the loopback is there by then.
    await sleep(300);
    await first.stop();
    expect((await outbox())[0]).toMatchObject({ delivered_at: expect.anything(), lease_until: null });
  });

  it('go at once where the process is told of them', async () => {
    const dispatcher = createForgeDispatcher({ ...stage.platform, logger: stage.logger, intervalMs: 3_600_000 });
    dispatcher.start();
    dispatchers.push(dispatcher);
    await proposal();
    dispatcher.wake();
    await arrived(1);
  });

  it('go to the address and under the secret that the project has by then', async () => {
    const repository = await stage.createProject({ webhookUrl: 'http://127.0.0.1:9/', webhookSecret: 'an old one' });
    await repository.commit(BRANCH, { 'new.md': 'New\n' });
    await stage.open(repository);
    await setProject(stage.platform.db, {
      project: repository.project,
      settings: { webhookUrl: receiver.url, webhookSecret: SECRET },
    });
    dispatch();
    expect(await arrived(1)).toMatchObject([{ verified: true }]);
    expect(JSON.stringify(await outbox())).not.toContain(SECRET);
  });

  it('go nowhere where the project names no address', async () => {
    const repository = await stage.createProject();
    await repository.commit(BRANCH, { 'new.md': 'New\n' });
    const opened = await stage.open(repository);
    await stage.post(`${opened.url}/merge`);
    expect(await outbox()).toEqual([]);
  });

  it("are the job's project's where several projects have one repository, and nobody's where none is the job's", async () => {
    const { repository } = await proposal();
    const { project } = await stage.platform.addCustomer();
    await setProject(stage.platform.db, { project, repository: `${repository.url}/` });
    await stage.platform.db.execute('delete from forge_deliveries');
    await repository.commit('by-hand', { 'hand.md': 'Hand\n' });
    await stage.open(repository, { branch: 'by-hand' });
    expect(await outbox()).toEqual([]);

    const { rows } = await stage.platform.db.execute(
      `select organization_id from projects where id = '${repository.project}'`,
    );
    const jobId = 'aj_00000000000000aa';
    await stage.platform.db.execute(
      `insert into agent_jobs (id, organization_id, project_id, repository, model, branch)
       values ('${jobId}', '${rows[0]?.organization_id}', '${repository.project}', '${repository.url}', 'test', 'galley/${jobId}')`,
    );
    await repository.commit(`galley/${jobId}`, { 'job.md': 'Job\n' });
    await stage.open(repository, { branch: `galley/${jobId}` });
    expect(await outbox()).toMatchObject([{ project_id: repository.project, event: 'pull_request' }]);
  });

  it('leave no secret in the log', () => {
    const log = lines.join('');
    expect(log).toContain('A webhook was not taken; trying again');
    expect(log).toContain('Gave up a webhook');
    for (const secret of [SECRET, 'of-the-address', 'an old one']) expect(log).not.toContain(secret);
  });
});
