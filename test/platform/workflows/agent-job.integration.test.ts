import { pino } from 'pino';
import { closePullRequest, mergePullRequest } from '../../../platform/forge/end-pull-request.ts';
import { getAgentRun } from '../../../platform/store/agent-runs.ts';
import { getPullRequest } from '../../../platform/store/pull-requests.ts';
import { type AgentFixture, PUBLIC_URL, startAgentFixture } from '../../helpers/agent-fixture.ts';
import { type AgentRepository, createAgentRepository } from '../../helpers/agent-repository.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { createDatabase } from '../../helpers/test-database.ts';

const SECRET = 'hunter2-token-value';

let fixture: AgentFixture;
let repository: AgentRepository;
let worker: Awaited<ReturnType<AgentFixture['startWorker']>>;

beforeAll(async () => {
  fixture = await startAgentFixture(await createDatabase());
  worker = await fixture.startWorker({ secrets: [SECRET], runsAtOnce: 1 });
});
beforeEach(async () => {
  repository = await createAgentRepository();
});
afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
  await repository.remove();
});
afterAll(() => fixture?.stop());

/** Waits until the agent of a job runs. */
const untilWorking = async (jobId: string): Promise<unknown> =>
  await waitFor(() => fixture.runner.tasks.some((task) => task.jobId === jobId), {
    describe: `worked on ${jobId}`,
    everyMs: 20,
  });

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function pullRequest(prLink: string | null) {
  const row = await getPullRequest(fixture.db, prLink?.split('/').at(-1) ?? '');
  if (row === undefined) throw new Error(`No pull request has the link ${prLink}`);
  return row;
}

describe('agentJob', () => {
  it('turns a prompt into one commit by the agent on a new branch, and a pull request', async () => {
    const job = await fixture.run({ repository: repository.url, prompt: 'write docs/new.md fresh\nprint working' });
    expect(job).toMatchObject({ status: 'completed', error: null });
    expect(job.prLink).toMatch(`${PUBLIC_URL}/pulls/pr_`);
    expect(await repository.files(job.branch)).toEqual({
      'README.md': 'Hello',
      'docs/guide.md': 'A guide',
      'docs/new.md': 'fresh',
    });
    expect(await repository.git('rev-list', '--count', `main..${job.branch}`)).toBe('1');
    const row = await pullRequest(job.prLink);
    expect(row).toMatchObject({
      state: 'open',
      headBranch: job.branch,
      baseBranch: 'main',
      title: 'write docs/new.md fresh',
    });
    expect(row.body).toContain('write docs/new.md fresh\nprint working');
    expect(row.body).toContain(job.id);
    const run = await getAgentRun(fixture.db, { jobId: job.id, run: 1 });
    expect(run).toMatchObject({ status: 'completed', commit: row.headSha, prLink: job.prLink });
    expect(String(await fixture.objects.read(run?.logKey ?? ''))).toBe('working\n');
    const seconds = Math.floor((run?.startedAt?.getTime() ?? 0) / 1_000);
    const format = '%an <%ae>|%cn <%ce>|%at|%ct|%(trailers:key=Galley-Job,valueonly)';
    const agent = 'Galley agent <agent@galley.invalid>';
    const commit = await repository.git('log', '-1', `--format=${format}`, job.branch);
    expect(commit.trim()).toBe(`${agent}|${agent}|${seconds}|${seconds}|${job.id}`);
  });

  it("starts from the project's branch, even if another one is checked out", async () => {
    const checkedOut = await createAgentRepository({ bare: false });
    await checkedOut.commit('next', { 'next.txt': 'next\n' });
    const job = await fixture.run({ repository: checkedOut.url, ref: 'next', prompt: 'write a.txt 1' });
    expect(await checkedOut.files(job.branch)).toMatchObject({ 'next.txt': 'next', 'a.txt': '1' });
    expect(await checkedOut.git('status', '--porcelain')).toBe('');
    expect(await pullRequest(job.prLink)).toMatchObject({ baseBranch: 'next' });
    await checkedOut.remove();
  });

  it('completes without a pull request if the agent changes nothing', async () => {
    const job = await fixture.run({ repository: repository.url, prompt: 'print nothing to do' });
    expect(job).toMatchObject({ status: 'completed', prLink: null, error: null });
    expect(await repository.head(job.branch)).toBeUndefined();
  });

  it('passes the prompt to the agent unchanged, escapes it in the pull request, and keeps it out of Temporal', async () => {
    const hostile = '\0$(touch /tmp/x) `id` {{ secret }} @everyone #12\r\nSubject: x\u202egnp.exe שלום \ud800 ';
    const prompt = `${hostile}${'ü'.repeat(100_000 - hostile.length)}`;
    const job = await fixture.run({ repository: repository.url, prompt: `${prompt}\nwrite a.txt 1` });
    expect(fixture.runner.tasks.at(-1)?.prompt).toBe(`${prompt}\nwrite a.txt 1`);
    const { title, body } = await pullRequest(job.prLink);
    expect(title).toMatch(/^\$\(touch \/tmp\/x\) `id` \{\{ secret \}\} @\u200beveryone #\u200b12/);
    expect([...title].length).toBeLessThanOrEqual(75);
    expect(body.length).toBeLessThan(60_000);
    expect(title + body).not.toMatch(/\u202e|\0|@everyone/);
    const history = await fixture.history(job.id);
    expect(history).toContain(job.branch);
    expect(history).not.toMatch(/everyone|touch|üü/);
    const handle = fixture.temporal.client.workflow.getHandle(job.id);
    expect((await handle.describe()).searchAttributes).toMatchObject({ GalleyPullRequest: [job.prLink] });
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toContain(repository.url);
    expect(currentDetails).toContain('completed: pushed');
    expect(currentDetails).not.toContain('everyone');
  });
});

describe('a follow-up message', () => {
  it('continues on the same branch and pull request, including commits of reviewers', async () => {
    const first = await fixture.run({ repository: repository.url, prompt: 'write a.txt 1' });
    await repository.commit(first.branch, { 'review.txt': 'mended\n' });
    const second = await fixture.message(first.id, 'write b.txt 2');
    expect(second).toMatchObject({ status: 'completed', prLink: first.prLink, run: 2 });
    expect(await repository.files(first.branch)).toMatchObject({ 'a.txt': '1', 'b.txt': '2', 'review.txt': 'mended' });
    expect(await repository.git('rev-list', '--count', `main..${first.branch}`)).toBe('3');
    const { title, body } = await pullRequest(second.prLink);
    expect(title).toBe('write a.txt 1');
    expect(body).toMatch(/write a\.txt 1.*write b\.txt 2/s);
  });

  it('does not change the pull request if the agent changes nothing', async () => {
    const first = await fixture.run({ repository: repository.url, prompt: 'write a.txt 1' });
    const head = await repository.head(first.branch);
    const { body } = await pullRequest(first.prLink);
    const second = await fixture.message(first.id, 'thank you');
    expect(second).toMatchObject({ status: 'completed', prLink: first.prLink });
    expect(await repository.head(first.branch)).toBe(head);
    expect((await pullRequest(first.prLink)).body).toBe(body);
  });

  it.each(['merged', 'closed'] as const)(
    'starts from the base branch with a new pull request after the first was %s',
    async (end) => {
      const first = await fixture.run({ repository: repository.url, prompt: 'write a.txt 1' });
      const context = { db: fixture.db, logger: pino({ level: 'silent' }), publicUrl: () => PUBLIC_URL };
      const opened = await pullRequest(first.prLink);
      await (end === 'merged'
        ? mergePullRequest(context, opened, { by: 'operator' })
        : closePullRequest(context, opened, 'operator'));
      const start = await repository.commit('main', { 'later.txt': 'later\n' });
      const second = await fixture.message(first.id, 'write b.txt 2');
      expect(second.prLink).not.toBe(first.prLink);
      expect(await pullRequest(second.prLink)).toMatchObject({ state: 'open', title: 'write b.txt 2' });
      expect((await pullRequest(second.prLink)).body).not.toContain('a.txt');
      expect(await repository.git('rev-parse', `${first.branch}^`)).toBe(start);
      expect((await pullRequest(first.prLink)).state).toBe(end);
    },
  );

  it('completes a job whose previous run failed', async () => {
    const first = await fixture.run({ repository: repository.url, prompt: 'fail' });
    expect(first.status).toBe('failed');
    const second = await fixture.message(first.id, 'write a.txt 1');
    expect(second).toMatchObject({ status: 'completed', error: null });
    expect((await pullRequest(second.prLink)).body).not.toContain('fail');
  });
});

describe('an agent job that fails', () => {
  it("reports the reason with the end of the agent's output, without secrets and colors", async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `print line ${index}`).join('\n');
    const prompt = `${lines}\nprint \u001b[31mtoken ${SECRET}\u001b[0m\nfail`;
    const job = await fixture.run({ repository: repository.url, prompt });
    expect(job).toMatchObject({ status: 'failed', prLink: null });
    expect(job.error).toMatch(/^The agent ended with exit code 3\n\n.*line 399\ntoken \*\*\*$/s);
    expect(job.error?.length).toBeLessThan(2_100);
    const run = await getAgentRun(fixture.db, { jobId: job.id, run: 1 });
    const log = String(await fixture.objects.read(run?.logKey ?? ''));
    expect(log).toContain('line 0\n');
    expect(log).not.toContain(SECRET);
    expect(await fixture.history(job.id)).not.toMatch(/line 399|hunter2/);
    expect(await repository.head(job.branch)).toBeUndefined();
  });

  it('reports the failure of a step', async () => {
    const job = await fixture.run({ repository: repository.url, ref: 'nowhere', prompt: 'write a.txt 1' });
    expect(job).toMatchObject({ status: 'failed', error: 'The repository has no branch nowhere' });
  });
});

describe('a cancel request', () => {
  it("kills the agent's processes and fails the job", async () => {
    const before = fixture.runner.pids.length;
    const { id, branch } = await fixture.add({ repository: repository.url, prompt: 'print begun\nwait' });
    await fixture.start(id);
    const pid = await waitFor(() => fixture.runner.pids[before], { describe: 'began to wait' });
    expect(isAlive(pid)).toBe(true);
    await fixture.cancel(id);
    const job = await fixture.end(id);
    expect(isAlive(pid)).toBe(false);
    expect(job).toMatchObject({ status: 'failed', error: 'cancelled', prLink: null });
    // The agent may see the cancel in the row first. The workflow then fails as canceled.
    const { status } = await fixture.temporal.client.workflow.getHandle(id).describe();
    expect(['CANCELLED', 'FAILED']).toContain(status.name);
    expect(await repository.head(branch)).toBeUndefined();
    const run = await getAgentRun(fixture.db, { jobId: id, run: 1 });
    expect(String(await fixture.objects.read(run?.logKey ?? ''))).toBe('begun\n');
  });

  it('also kills the agent if it never reached the workflow', async () => {
    const { id } = await fixture.add({ repository: repository.url, prompt: 'wait' });
    await fixture.start(id);
    await untilWorking(id);
    await fixture.cancel(id, { workflow: false });
    expect(await fixture.end(id)).toMatchObject({ status: 'failed', error: 'cancelled' });
  });

  it('prevents a run that has not started', async () => {
    const { id } = await fixture.add({ repository: repository.url, prompt: 'write a.txt 1' });
    await fixture.cancel(id, { workflow: false });
    await fixture.start(id);
    expect(await fixture.end(id)).toMatchObject({ status: 'failed', error: 'cancelled' });
    expect(await fixture.temporal.client.workflow.getHandle(id).result()).toEqual({ status: 'over', prLink: null });
  });
});

describe('a worker', () => {
  it('runs at most the configured number of agents at a time', async () => {
    const held = await fixture.add({ repository: repository.url, prompt: 'wait' });
    await fixture.start(held.id);
    await untilWorking(held.id);
    const second = await fixture.add({ repository: repository.url, prompt: 'write a.txt 1' });
    await fixture.start(second.id);
    const handle = fixture.temporal.client.workflow.getHandle(second.id);
    const pending = async () => (await handle.describe()).raw.pendingActivities?.[0]?.activityType?.name;
    await waitFor(async () => (await pending()) === 'runAgent', { describe: 'scheduled its agent' });
    // The worker still runs other activities. Once this job has ended, it has polled without taking the second agent.
    const over = await fixture.add({ repository: repository.url, prompt: 'write a.txt 1' });
    await fixture.cancel(over.id, { workflow: false });
    await fixture.start(over.id);
    await fixture.end(over.id);
    expect(fixture.runner.tasks.at(-1)?.jobId).toBe(held.id);
    await fixture.cancel(held.id);
    expect(await fixture.end(second.id)).toMatchObject({ status: 'completed' });
    expect(await fixture.end(held.id)).toMatchObject({ status: 'failed' });
  });

  it('stops its agent when it stops, and the next worker runs the agent again', async () => {
    const before = fixture.runner.pids.length;
    const { id } = await fixture.add({ repository: repository.url, prompt: 'wait' });
    await fixture.start(id);
    await waitFor(() => fixture.runner.pids[before], { describe: 'began to wait' });
    await worker.stop();
    await fixture.startWorker();
    const again = await waitFor(() => fixture.runner.pids[before + 1], { describe: 'was run again' });
    expect([isAlive(fixture.runner.pids[before] ?? 0), isAlive(again)]).toEqual([false, true]);
    await fixture.cancel(id);
    expect(await fixture.end(id)).toMatchObject({ status: 'failed', error: 'cancelled' });
  });
});
