import { subscribe } from 'node:diagnostics_channel';
import pino from 'pino';
import { setProject } from '../../../platform/admin/projects.ts';
import { createForgeDispatcher, type ForgeDispatcher } from '../../../platform/forge/deliveries/create-dispatcher.ts';
import { createBranchWatch } from '../../../platform/forge/watch-branches.ts';
import { leaseDelivery } from '../../../platform/store/forge-deliveries.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { BRANCH, type ForgeFixture, startForgeFixture } from './forge-fixture.ts';
import { type Received, SECRET, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

type Row = Record<string, unknown>;

const lines: string[] = [];

describe('webhooks of the embedded forge', () => {
  let fixture: ForgeFixture;
  let receiver: WebhookReceiver;
  let dispatchers: ForgeDispatcher[] = [];

  beforeAll(async () => {
    fixture = await startForgeFixture(pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }));
  });
  afterAll(() => fixture?.stop());
  beforeEach(async () => {
    receiver = await startWebhookReceiver();
  });
  afterEach(async () => {
    await Promise.all(dispatchers.map((each) => each.stop()));
    dispatchers = [];
    await receiver.stop();
    await fixture.platform.db.execute('delete from forge_deliveries');
  });

  function dispatch(options: { timeoutMs?: number; intervalMs?: number } = {}): ForgeDispatcher {
    const dispatcher = createForgeDispatcher({
      ...fixture.platform,
      logger: fixture.logger,
      intervalMs: 50,
      ...options,
    });
    dispatcher.start();
    dispatchers.push(dispatcher);
    return dispatcher;
  }

  async function proposal() {
    const repository = await fixture.createProject({ webhookUrl: receiver.url, webhookSecret: SECRET });
    const headSha = await repository.commit(BRANCH, { 'new.md': 'New\n' });
    return { repository, headSha, opened: await fixture.open(repository) };
  }
  const outbox = async () =>
    (await fixture.platform.db.execute('select * from forge_deliveries order by sequence')).rows;
  const arrived = (count: number): Promise<Received[]> =>
    waitFor(() => receiver.received.length >= count && receiver.received, { describe: `took ${count} webhooks` });
  /** Makes the next attempt of every delivery due now. */
  const makeDue = () =>
    fixture.platform.db.execute("update forge_deliveries set next_attempt_at = now() - interval '1 s'");

  it("report every event of a pull request in order, signed, in GitHub's format", async () => {
    dispatch();
    const { repository, headSha, opened } = await proposal();
    const next = await repository.commit(
      BRANCH,
      { 'more.md': 'More\n' },
      'Say more\n\nGalley-Job: aj_0123456789abcdef',
    );
    await createBranchWatch(fixture.forgeContext()).look();
    await fixture.forge.updatePullRequest(opened.url, { title: 'Another title' });
    await fixture.post(`${opened.url}/reviews`, { json: { event: 'APPROVE', reviewer: 'ada', body: 'Good.' } });
    const before = await repository.git('rev-parse', 'main');
    await fixture.post(`${opened.url}/merge`);
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

  it('report a closed pull request as not merged, and each event once', async () => {
    dispatch();
    dispatch();
    const { opened } = await proposal();
    for (const _ of [1, 2]) await fixture.post(`${opened.url}/close`);
    for (const _ of [1, 2]) {
      await fixture.post(`${opened.url}/reviews`, { json: { event: 'COMMENT', reviewer: 'ada', body: 'Why?' } });
      await fixture.forge.updatePullRequest(opened.url, { body: 'As asked.' });
    }
    const received = await arrived(3);
    await waitFor(async () => (await outbox()).every((row) => row.delivered_at !== null), { describe: 'settled' });
    expect(received.map(({ body }) => body.action)).toEqual(['opened', 'closed', 'submitted']);
    expect(received[1]?.body).toMatchObject({
      pull_request: { state: 'closed', merged: false, merge_commit_sha: null },
    });
  });

  it('are retried with the same id and the same bytes until they are accepted', async () => {
    receiver.answers.push(500, 302, 202);
    // Only the test starts attempts, so that each is seen before the next.
    const dispatcher = dispatch({ intervalMs: 3_600_000 });
    await proposal();
    dispatcher.wake();
    for (let attempts = 1; attempts <= 2; attempts += 1) {
      const isRecorded = (row: Row) => row.attempt_count === attempts && row.lease_until === null;
      const row = await waitFor(async () => (await outbox()).find(isRecorded), {
        describe: `recorded attempt ${attempts}`,
      });
      expect(row).toMatchObject({
        delivered_at: null,
        failed_at: null,
        last_error: expect.stringMatching(/^answered/),
      });
      await makeDue();
      dispatcher.wake();
    }
    const received = await arrived(3);
    expect(new Set(received.map(({ id, body }) => `${id} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(received.every(({ verified }) => verified)).toBe(true);
    await waitFor(async () => (await outbox())[0]?.delivered_at, { describe: 'delivered' });
  });

  it.each([
    ['after a day', 503, '1 day'],
    ['at once if the receiver will never accept them', 400, '0 s'],
  ])('are dropped %s', async (_when, status, age) => {
    receiver.answers.push(status);
    await proposal();
    await fixture.platform.db.execute(`update forge_deliveries set created_at = now() - interval '${age}'`);
    dispatch();
    const row = await waitFor(async () => (await outbox()).find((each) => each.failed_at !== null), {
      describe: 'dropped',
    });
    expect(row).toMatchObject({ last_error: `answered ${status}`, attempt_count: 1, delivered_at: null });
  });

  it('time out, and are then retried', async () => {
    receiver.answers.push('nothing');
    const dispatcher = dispatch({ timeoutMs: 300, intervalMs: 3_600_000 });
    await proposal();
    dispatcher.wake();
    await waitFor(async () => (await outbox())[0]?.last_error === 'no response in time', { describe: 'timed out' });
    await makeDue();
    dispatcher.wake();
    await arrived(2);
  });

  it('are sent by another process if the process that leased them died', async () => {
    await proposal();
    await leaseDelivery(fixture.platform.db, { token: 'of the dead', leaseMs: 60_000 });
    dispatch();
    dispatch();
    await fixture.platform.db.execute("update forge_deliveries set lease_until = now() - interval '1 s'");
    await waitFor(async () => (await outbox())[0]?.delivered_at, { describe: 'delivered' });
    expect(receiver.received).toHaveLength(1);
  });

  it('are released if the process stops while it sends them', async () => {
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

  it('count as delivered if the process stops while it reads the rest of the response', async () => {
    receiver.answers.push('half');
    const first = dispatch({ timeoutMs: 60_000 });
    const headersReceived = new Promise((resolve) => subscribe('undici:request:headers', resolve));
    await proposal();
    await headersReceived;
    await new Promise(setImmediate);
    await first.stop();
    expect((await outbox())[0]).toMatchObject({ delivered_at: expect.anything(), lease_until: null });
  });

  it('are sent at once if the process is woken', async () => {
    const dispatcher = dispatch({ intervalMs: 3_600_000 });
    await proposal();
    dispatcher.wake();
    await arrived(1);
  });

  it("are sent to the project's current URL, signed with its current secret", async () => {
    const repository = await fixture.createProject({ webhookUrl: 'http://127.0.0.1:9/', webhookSecret: 'an old one' });
    await repository.commit(BRANCH, { 'new.md': 'New\n' });
    await fixture.open(repository);
    await setProject(fixture.platform.db, {
      project: repository.project,
      settings: { webhookUrl: receiver.url, webhookSecret: SECRET },
    });
    dispatch();
    expect(await arrived(1)).toMatchObject([{ verified: true }]);
    expect(JSON.stringify(await outbox())).not.toContain(SECRET);
  });

  it('are not enqueued if the project has no URL', async () => {
    const repository = await fixture.createProject();
    await repository.commit(BRANCH, { 'new.md': 'New\n' });
    const opened = await fixture.open(repository);
    await fixture.post(`${opened.url}/merge`);
    expect(await outbox()).toEqual([]);
  });

  it("belong to the job's project if several share the repository, and to none if no job owns the branch", async () => {
    const { repository } = await proposal();
    const { project } = await fixture.platform.addCustomer();
    await setProject(fixture.platform.db, { project, repository: `${repository.url}/` });
    await fixture.platform.db.execute('delete from forge_deliveries');
    await repository.commit('by-hand', { 'hand.md': 'Hand\n' });
    await fixture.open(repository, { branch: 'by-hand' });
    expect(await outbox()).toEqual([]);

    const { rows } = await fixture.platform.db.execute(
      `select organization_id from projects where id = '${repository.project}'`,
    );
    const jobId = 'aj_00000000000000aa';
    await fixture.platform.db.execute(
      `insert into agent_jobs (id, organization_id, project_id, repository, model, branch)
       values ('${jobId}', '${rows[0]?.organization_id}', '${repository.project}', '${repository.url}', 'test', 'galley/${jobId}')`,
    );
    await repository.commit(`galley/${jobId}`, { 'job.md': 'Job\n' });
    await fixture.open(repository, { branch: `galley/${jobId}` });
    expect(await outbox()).toMatchObject([{ project_id: repository.project, event: 'pull_request' }]);
  });

  it('are logged without secrets', () => {
    const log = lines.join('');
    expect(log).toContain('The receiver rejected a webhook; retrying');
    expect(log).toContain('Gave up a webhook');
    for (const secret of [SECRET, 'of-the-address', 'an old one']) expect(log).not.toContain(secret);
  });
});
