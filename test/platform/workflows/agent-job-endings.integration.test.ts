import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getAgentJob } from '../../../platform/store/agent-jobs.ts';
import { getAgentRun } from '../../../platform/store/agent-runs.ts';
import { type AgentRepository, createAgentRepository } from '../../helpers/agent-repository.ts';
import type { AgentRig } from '../../helpers/agent-rig.ts';
import { allowedMs } from '../../helpers/allowed-ms.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { useAgentRig } from './use-agent-rig.ts';

const SECRET = 'hunter2-token-value';

let rig: AgentRig;
let repository: AgentRepository;
useAgentRig(
  (given) => {
    ({ rig, repository } = given);
  },
  { secrets: [SECRET], runsAtOnce: 1 },
);

/** Waits until the rig's agent works on this run of a job. */
const untilWorking = async (jobId: string, run = 1): Promise<unknown> =>
  await waitFor(() => rig.runner.tasks.some((task) => task.jobId === jobId && task.run === run), {
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

describe('an agent job that fails', () => {
  it('says why with the end of what the agent printed, without secrets and colours', async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `print line ${index}`).join('\n');
    const prompt = `${lines}\nprint \u001b[31mtoken ${SECRET}\u001b[0m\nfail`;
    const job = await rig.run({ repository: repository.url, prompt });
    expect(job).toMatchObject({ status: 'failed', prLink: null });
    expect(job.error).toMatch(/^The agent ended with exit code 3\n\n.*line 399\ntoken \*\*\*$/s);
    expect(job.error?.length).toBeLessThan(2_100);
    const run = await getAgentRun(rig.db, { jobId: job.id, run: 1 });
    const log = String(await rig.objects.read(run?.logKey ?? ''));
    expect(log).toContain('line 0\n');
    expect(log).not.toContain(SECRET);
    expect(await rig.history(job.id)).not.toMatch(/line 399|hunter2/);
    expect(await repository.head(job.branch)).toBeUndefined();
  });

  it('names the branch that is not there', async () => {
    const job = await rig.run({ repository: repository.url, ref: 'nowhere', prompt: 'write a.txt 1' });
    expect(job).toMatchObject({ status: 'failed', error: 'The repository has no branch nowhere' });
  });

  it('says that the repository is empty, or not there at all', async () => {
    const empty = await createAgentRepository({ empty: true });
    const job = await rig.run({ repository: empty.url, prompt: 'write a.txt 1' });
    expect(job.error).toMatch(/is empty, or has no default branch/);
    await empty.remove();
    const gone = await rig.run({ repository: empty.url, prompt: 'write a.txt 1' });
    expect(gone.error).toMatch(/does not appear to be a git repository/);
  });

  it('says that a rule of the repository refused the push', async () => {
    const hook = join(repository.dir, 'hooks/update');
    await writeFile(hook, '#!/bin/sh\necho "galley branches are protected"\nexit 1\n');
    await chmod(hook, 0o755);
    const job = await rig.run({ repository: repository.url, prompt: 'write a.txt 1' });
    expect(job.status).toBe('failed');
    expect(job.error).toMatch(/refused the push: hook declined: galley branches are protected/);
  });

  it('leaves a branch alone that somebody pushed to while the agent worked', async () => {
    const first = await rig.run({ repository: repository.url, prompt: 'write a.txt 1' });
    const running = rig.message(first.id, 'write b.txt 2\npause 8000');
    await untilWorking(first.id, 2);
    const theirs = await repository.commit(first.branch, { 'theirs.txt': 'theirs\n' });
    const second = await running;
    expect(second.error).toMatch(/Somebody pushed to galley\/aj_/);
    expect(await repository.head(first.branch)).toBe(theirs);
    const third = await rig.message(first.id, 'write b.txt 2');
    expect(third).toMatchObject({ status: 'completed', prLink: first.prLink });
    expect(await repository.files(first.branch)).toMatchObject({ 'theirs.txt': 'theirs', 'b.txt': '2' });
  });

  it('does not push to a branch that somebody has checked out', async () => {
    const checkedOut = await createAgentRepository({ bare: false });
    const { id, branch } = await rig.add({ repository: checkedOut.url, prompt: 'write a.txt 1' });
    await checkedOut.git('checkout', '--quiet', '-b', branch);
    await rig.start(id);
    expect((await rig.end(id)).error).toMatch(/refused the push: branch is currently checked out/);
    await checkedOut.remove();
  });
});

describe('a cancel', () => {
  it('while the agent works ends its processes within seconds, and records it', async () => {
    const before = rig.runner.pids.length;
    const { id, branch } = await rig.add({ repository: repository.url, prompt: 'print begun\nwait' });
    await rig.start(id);
    const pid = await waitFor(() => rig.runner.pids[before], { describe: 'began to wait' });
    expect(isAlive(pid)).toBe(true);
    const askedAt = Date.now();
    await rig.cancel(id);
    const job = await rig.end(id);
    expect(Date.now() - askedAt).toBeLessThan(allowedMs(15_000));
    expect(isAlive(pid)).toBe(false);
    expect(job).toMatchObject({ status: 'failed', error: 'cancelled', prLink: null });
    // The row may tell the agent before the workflow does: the run then fails as cancelled.
    const { status } = await rig.temporal.client.workflow.getHandle(id).describe();
    expect(['CANCELLED', 'FAILED']).toContain(status.name);
    expect(await repository.head(branch)).toBeUndefined();
    const run = await getAgentRun(rig.db, { jobId: id, run: 1 });
    expect(String(await rig.objects.read(run?.logKey ?? ''))).toBe('begun\n');
  });

  it('that never reached the workflow ends the agent too', async () => {
    const { id } = await rig.add({ repository: repository.url, prompt: 'wait' });
    await rig.start(id);
    await untilWorking(id);
    await rig.cancel(id, { workflow: false });
    expect(await rig.end(id)).toMatchObject({ status: 'failed', error: 'cancelled' });
  });

  it('before the run has begun leaves nothing to do', async () => {
    const { id } = await rig.add({ repository: repository.url, prompt: 'write a.txt 1' });
    await rig.cancel(id, { workflow: false });
    await rig.start(id);
    expect(await rig.end(id)).toMatchObject({ status: 'failed', error: 'cancelled' });
    expect(await rig.temporal.client.workflow.getHandle(id).result()).toEqual({ status: 'over', prLink: null });
  });
});

describe('a worker', () => {
  it('runs no more agents at a time than it is told to', async () => {
    const held = await rig.add({ repository: repository.url, prompt: 'wait' });
    await rig.start(held.id);
    await untilWorking(held.id);
    const other = await rig.add({ repository: repository.url, prompt: 'write a.txt 1' });
    await rig.start(other.id);
    const fetched = async () => (await getAgentRun(rig.db, { jobId: other.id, run: 1 }))?.baseCommit;
    await waitFor(fetched, { describe: 'fetched the other one’s repository' });
    await sleep(2_000);
    expect(rig.runner.tasks.at(-1)?.jobId).toBe(held.id);
    await rig.cancel(held.id);
    expect(await rig.end(other.id)).toMatchObject({ status: 'completed' });
    expect((await getAgentJob(rig.db, held.id))?.status).toBe('failed');
  });

  it('does nothing for a run that is over', async () => {
    const job = await rig.run({ repository: repository.url, prompt: 'write a.txt 1' });
    await rig.start(job.id);
    const result = await rig.temporal.client.workflow.getHandle(job.id).result();
    expect(result).toEqual({ status: 'over', prLink: null });
    expect(await getAgentJob(rig.db, job.id)).toEqual(job);
  });
});
