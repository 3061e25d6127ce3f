import { pino } from 'pino';
import { closePullRequest, mergePullRequest } from '../../../platform/forge/end-pull-request.ts';
import { getAgentRun } from '../../../platform/store/agent-runs.ts';
import { getPullRequest } from '../../../platform/store/pull-requests.ts';
import { type AgentRepository, createAgentRepository } from '../../helpers/agent-repository.ts';
import { type AgentRig, PUBLIC_URL } from '../../helpers/agent-rig.ts';
import { useAgentRig } from './use-agent-rig.ts';

let rig: AgentRig;
let repository: AgentRepository;
useAgentRig((given) => {
  ({ rig, repository } = given);
});

async function pullRequest(prLink: string | null) {
  const row = await getPullRequest(rig.db, prLink?.split('/').at(-1) ?? '');
  if (row === undefined) throw new Error(`${prLink} is no pull request`);
  return row;
}

describe('agentJob', () => {
  it('turns a prompt into one commit on a branch of its own, and a pull request', async () => {
    const job = await rig.run({ repository: repository.url, prompt: 'write docs/new.md fresh\nprint working' });
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
    const run = await getAgentRun(rig.db, { jobId: job.id, run: 1 });
    expect(run).toMatchObject({ status: 'completed', commit: row.headSha, prLink: job.prLink });
    expect(String(await rig.objects.read(run?.logKey ?? ''))).toBe('working\n');
  });

  it('makes a commit by its own author, dated by the run and marked with the job', async () => {
    const job = await rig.run({ repository: repository.url, prompt: 'write a.txt 1' });
    const run = await getAgentRun(rig.db, { jobId: job.id, run: 1 });
    const seconds = Math.floor((run?.startedAt?.getTime() ?? 0) / 1_000);
    const format = '%an <%ae>|%cn <%ce>|%at|%ct|%(trailers:key=Galley-Job,valueonly)';
    const agent = 'Galley agent <agent@galley.invalid>';
    const told = await repository.git('log', '-1', `--format=${format}`, job.branch);
    expect(told.trim()).toBe(`${agent}|${agent}|${seconds}|${seconds}|${job.id}`);
  });

  it('starts from the branch that the project names, and asks to merge into it', async () => {
    await repository.commit('next', { 'next.txt': 'next\n' });
    const job = await rig.run({ repository: repository.url, ref: 'next', prompt: 'write a.txt 1' });
    expect(await repository.files(job.branch)).toMatchObject({ 'next.txt': 'next', 'a.txt': '1' });
    expect(await pullRequest(job.prLink)).toMatchObject({ baseBranch: 'next' });
  });

  it('completes without a pull request where the agent changes nothing', async () => {
    const job = await rig.run({ repository: repository.url, prompt: 'print nothing to do' });
    expect(job).toMatchObject({ status: 'completed', prLink: null, error: null });
    expect(await repository.head(job.branch)).toBeUndefined();
  });

  it('works on a repository whose branch somebody has checked out', async () => {
    const checkedOut = await createAgentRepository({ bare: false });
    const job = await rig.run({ repository: checkedOut.url, prompt: 'write a.txt 1' });
    expect(job).toMatchObject({ status: 'completed', error: null });
    expect(await checkedOut.files(job.branch)).toMatchObject({ 'a.txt': '1' });
    expect(await checkedOut.git('status', '--porcelain')).toBe('');
    await checkedOut.remove();
  });

  it('hands the prompt to the agent as it was sent, and tells it safely', async () => {
    const hostile = '\0$(touch /tmp/x) `id` {{ secret }} @everyone #12\r\nSubject: x\u202egnp.exe שלום \ud800 ';
    const prompt = `${hostile}${'ü'.repeat(100_000 - hostile.length)}`;
    const job = await rig.run({ repository: repository.url, prompt: `${prompt}\nwrite a.txt 1` });
    expect(rig.runner.tasks.at(-1)?.prompt).toBe(`${prompt}\nwrite a.txt 1`);
    const { title, body } = await pullRequest(job.prLink);
    expect(title).toMatch(/^\$\(touch \/tmp\/x\) `id` \{\{ secret \}\} @\u200beveryone #\u200b12/);
    expect([...title].length).toBeLessThanOrEqual(75);
    expect(body.length).toBeLessThan(60_000);
    expect(title + body).not.toMatch(/\u202e|\0|@everyone/);
    const history = await rig.history(job.id);
    expect(history).toContain(job.branch);
    expect(history).not.toMatch(/everyone|touch|üü/);
  });

  it('tells its story in the Temporal UI, without the prompt', async () => {
    const job = await rig.run({ repository: repository.url, prompt: 'write a.txt 1\nwrite secret-plan.txt 2' });
    const handle = rig.temporal.client.workflow.getHandle(job.id);
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({ GalleyPullRequest: [job.prLink] });
    const details = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(details.currentDetails).toContain(repository.url);
    expect(details.currentDetails).toContain('completed: pushed');
    expect(details.currentDetails).not.toContain('secret-plan');
  });
});

describe('a follow-up message', () => {
  it('goes on on the same branch and pull request, with what reviewers pushed meanwhile', async () => {
    const first = await rig.run({ repository: repository.url, prompt: 'write a.txt 1' });
    await repository.commit(first.branch, { 'review.txt': 'mended\n' });
    const second = await rig.message(first.id, 'write b.txt 2');
    expect(second).toMatchObject({ status: 'completed', prLink: first.prLink, run: 2 });
    expect(await repository.files(first.branch)).toMatchObject({ 'a.txt': '1', 'b.txt': '2', 'review.txt': 'mended' });
    expect(await repository.git('rev-list', '--count', `main..${first.branch}`)).toBe('3');
    const { title, body } = await pullRequest(second.prLink);
    expect(title).toBe('write a.txt 1');
    expect(body).toMatch(/write a\.txt 1.*write b\.txt 2/s);
  });

  it('that changes nothing leaves the pull request as it is', async () => {
    const first = await rig.run({ repository: repository.url, prompt: 'write a.txt 1' });
    const head = await repository.head(first.branch);
    const { body } = await pullRequest(first.prLink);
    const second = await rig.message(first.id, 'thank you');
    expect(second).toMatchObject({ status: 'completed', prLink: first.prLink });
    expect(await repository.head(first.branch)).toBe(head);
    expect((await pullRequest(first.prLink)).body).toBe(body);
  });

  it.each(['merged', 'closed'] as const)(
    'after the pull request was %s starts afresh, with another one',
    async (end) => {
      const first = await rig.run({ repository: repository.url, prompt: 'write a.txt 1' });
      const context = { db: rig.db, logger: pino({ level: 'silent' }), publicUrl: () => PUBLIC_URL };
      const opened = await pullRequest(first.prLink);
      await (end === 'merged' ? mergePullRequest(context, opened) : closePullRequest(context, opened));
      const start = await repository.commit('main', { 'later.txt': 'later\n' });
      const second = await rig.message(first.id, 'write b.txt 2');
      expect(second.prLink).not.toBe(first.prLink);
      expect(await pullRequest(second.prLink)).toMatchObject({ state: 'open', title: 'write b.txt 2' });
      expect((await pullRequest(second.prLink)).body).not.toContain('a.txt');
      expect(await repository.git('rev-parse', `${first.branch}^`)).toBe(start);
      expect((await pullRequest(first.prLink)).state).toBe(end);
    },
  );

  it('mends what failed before it', async () => {
    const first = await rig.run({ repository: repository.url, prompt: 'fail' });
    expect(first.status).toBe('failed');
    const second = await rig.message(first.id, 'write a.txt 1');
    expect(second).toMatchObject({ status: 'completed', error: null });
    expect((await pullRequest(second.prLink)).body).not.toContain('fail');
  });
});
