import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApplicationFailure } from '@temporalio/common';
import { execa } from 'execa';
import { pino } from 'pino';
import type { ForgeWriter } from '../../../../forge/forge.ts';
import { ForgeError } from '../../../../forge/forge-error.ts';
import type { AgentDeps } from '../../../../platform/activities/agent/agent-deps.ts';
import type { AgentOutcome, AgentTask } from '../../../../platform/activities/agent/agent-runner.ts';
import { createPlatformActivities } from '../../../../platform/activities/create-platform-activities.ts';
import { createEmbeddedForge } from '../../../../platform/forge/embedded-forge.ts';
import { closePullRequest, mergePullRequest } from '../../../../platform/forge/end-pull-request.ts';
import { createObjectStore } from '../../../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../../../platform/objects/object-store.ts';
import { requestAgentJobCancel } from '../../../../platform/store/agent-job-transitions.ts';
import { type AgentJobRow, getAgentJob } from '../../../../platform/store/agent-jobs.ts';
import { getAgentRun, keepRunCommit } from '../../../../platform/store/agent-runs.ts';
import { type Database, openDatabase } from '../../../../platform/store/database.ts';
import { getPullRequest } from '../../../../platform/store/pull-requests.ts';
import { activityEnvironment, failureOf } from '../../../activities/activity-environment.ts';
import { addTestJob, addTestMessage } from '../../../helpers/agent-jobs.ts';
import { type AgentRepository, createAgentRepository } from '../../../helpers/agent-repository.ts';
import { gitIn, packTree, ScriptRunner } from '../../../helpers/script-runner.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { createDatabase, type TestDatabase } from '../../../helpers/test-database.ts';

const logger = pino({ level: 'silent' });

let server: TestDatabase;
let db: Database;
const folder = temporaryFolder();
let objects: ObjectStore;
let forge: ForgeWriter;
let repository: AgentRepository;

beforeAll(async () => {
  server = await createDatabase();
  db = await openDatabase({ url: server.url, maxConnections: server.maxConnections, logger });
  objects = await createObjectStore({ url: pathToFileURL(join(folder, 'objects')).href });
  forge = createEmbeddedForge({ db, logger, publicUrl: () => 'http://platform.test' });
});

beforeEach(async () => {
  repository = await createAgentRepository();
});

afterEach(() => repository.remove());

afterAll(async () => {
  await objects.close();
  await db.close();
  await server.stop();
});

const deps = (change: Partial<AgentDeps> = {}): AgentDeps => ({
  runner: new ScriptRunner(),
  forgeFor: () => forge,
  workDir: join(folder, 'work'),
  ...change,
});

type Key = { jobId: string; run: number };

/** Runs each call as a separate attempt on a separate worker. Defaults: a first run, on `main`. */
function activitiesOf(agents: AgentDeps | undefined) {
  const make = () => createPlatformActivities({ db, objects, logger, ...(agents && { agents }) });
  type Request = Parameters<ReturnType<typeof make>['openPullRequest']>[0];
  const call = <Input, Result>(run: (input: Input) => Promise<Result>, input: Input): Promise<Result> =>
    activityEnvironment().run(run, input);
  return {
    open: (input: Key) => call(make().openAgentRun, input),
    work: (input: Key) => call(make().runAgent, input),
    push: (input: Key) => call(make().pushChange, { replaces: null, finished: null, ...input }),
    request: (input: Key & Pick<Request, 'commit'> & Partial<Request>) =>
      call(make().openPullRequest, { baseBranch: 'main', continues: false, finished: null, ...input }),
    end: (input: Parameters<ReturnType<typeof make>['endAgentRun']>[0]) => call(make().endAgentRun, input),
  };
}

/** Retries retryable failures, as Temporal does: of two concurrent pushes, one may find the branch locked. */
async function withRetries<Result>(call: () => Promise<Result>): Promise<Result> {
  while (true) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || error.nonRetryable) throw error;
    }
  }
}

const add = (prompt: string, settings = {}): Promise<AgentJobRow> =>
  addTestJob(db, { repository: repository.url, prompt, settings });

/** The activities of a job after `runAgent` of its first run. */
async function jobAfterAgent(prompt = 'write a.txt 1', change: Partial<AgentDeps> = {}, settings = {}) {
  const activities = activitiesOf(deps(change));
  const { id: jobId, branch } = await add(prompt, settings);
  const key = { jobId, run: 1 };
  await activities.open(key);
  const { kind } = await activities.work(key);
  return { ...activities, jobId, branch, key, kind };
}

async function pullRequest(prLink: string | null) {
  const row = await getPullRequest(db, prLink?.split('/').at(-1) ?? '');
  if (row === undefined) throw new Error(`No pull request has the link ${prLink}`);
  return row;
}

/** A runner that returns a given outcome, such as one from a hostile agent. */
function runnerReturning(make: (task: AgentTask) => Promise<AgentOutcome>): AgentDeps['runner'] {
  return { model: 'hostile', run: make };
}

describe('each step of an agent job', () => {
  it('is idempotent: a repeated call returns the same result without repeating the work', async () => {
    const runner = new ScriptRunner();
    const { open, work, push, request, end } = activitiesOf(deps({ runner }));
    const { id: jobId, branch } = await add('write a.txt 1\nprint hello');
    const key = { jobId, run: 1 };

    const opened = await open(key);
    expect(opened).toMatchObject({
      state: 'open',
      baseBranch: 'main',
      continues: false,
      replaces: null,
      finished: null,
    });
    // The decision stays although the repository has moved on.
    await repository.commit('main', { 'later.txt': 'x' });
    expect(await open(key)).toEqual(opened);

    expect(await work(key)).toEqual({ kind: 'changed' });
    expect(await work(key)).toEqual({ kind: 'changed' });
    expect(runner.tasks).toHaveLength(1);

    const pushed = await push(key);
    expect(await push(key)).toEqual(pushed);
    expect(await repository.head(branch)).toBe(pushed.commit);
    // As after a crash between the push and recording it.
    await repository.git('update-ref', '-d', `refs/heads/${branch}`);
    expect(await push(key)).toEqual(pushed);
    expect(await repository.head(branch)).toBe(pushed.commit);

    const input = { ...key, commit: pushed.commit };
    const { prLink } = await request(input);
    expect(await request(input)).toEqual({ prLink });
    expect((await pullRequest(prLink)).number).toBe(1);

    const result = { kind: 'completed', prLink } as const;
    expect(await end({ ...key, result })).toEqual({ status: 'completed' });
    expect(await end({ ...key, result: { kind: 'failed', error: 'late' } })).toEqual({ status: 'completed' });
    expect(await getAgentJob(db, jobId)).toMatchObject({ status: 'completed', prLink, error: null });
    expect(await open(key)).toEqual({ state: 'over' });
    const left: string[] = [];
    for await (const name of objects.list(`agent/${jobId}/`)) left.push(name);
    expect(left).toEqual([`agent/${jobId}/1/log.txt`]);
  });

  it('creates one commit if several workers push the same change concurrently', async () => {
    const { push, branch, key } = await jobAfterAgent();
    const all = await Promise.all([1, 2, 3].map(() => withRetries(() => push(key))));
    expect(new Set(all.map(({ commit }) => commit))).toEqual(new Set([await repository.head(branch)]));
    expect(await repository.git('rev-list', '--count', `main..${branch}`)).toBe('1');
  });

  it('pushes its own commit of the change if another release recorded a different one and died', async () => {
    const { push, branch, key } = await jobAfterAgent();
    await keepRunCommit(db, { ...key, commit: 'd'.repeat(40), endedPrLink: null });
    const pushed = await push(key);
    expect(await repository.head(branch)).toBe(pushed.commit);
    // As after a crash between the push and its result.
    expect(await push(key)).toEqual(pushed);
    expect(await getAgentRun(db, key)).toMatchObject({ commit: pushed.commit });
  });

  it('recognizes its own pull request if it was merged before it was recorded', async () => {
    const { push, request, key } = await jobAfterAgent();
    const input = { ...key, ...(await push(key)) };
    const { prLink } = await request(input);
    const row = await pullRequest(prLink);
    await mergePullRequest({ db, logger, publicUrl: () => 'http://platform.test' }, row, { by: 'operator' });
    expect(await request(input)).toEqual({ prLink });
  });

  it('opens another pull request if the first was closed while the agent worked', async () => {
    const { open, work, push, request, end, jobId, key: firstKey } = await jobAfterAgent();
    const first = await push(firstKey);
    const { prLink } = await request({ ...firstKey, commit: first.commit });
    await end({ ...firstKey, result: { kind: 'completed', prLink } });
    await addTestMessage(db, jobId, 'write b.txt 2');
    const key = { jobId, run: 2 };
    const opened = await open(key);
    expect(opened).toMatchObject({ continues: true, baseCommit: first.commit });
    await work(key);
    const row = await pullRequest(prLink);
    await closePullRequest({ db, logger, publicUrl: () => 'http://platform.test' }, row, 'operator');
    const second = await push(key);
    expect(second.finished).toBe(prLink);
    // As after a crash between the push and its result.
    expect(await push(key)).toEqual(second);
    const link = await request({ ...key, ...second, continues: true });
    expect(link.prLink).not.toBe(prLink);
    expect(await request({ ...key, ...second, continues: true })).toEqual(link);
  });
});

describe('a cancel request that was accepted while Temporal was down', () => {
  const canceled = { message: 'cancelled', nonRetryable: true };

  it('prevents the push', async () => {
    const { push, branch, key } = await jobAfterAgent();
    await requestAgentJobCancel(db, key.jobId);
    expect(await failureOf(push(key))).toMatchObject(canceled);
    expect(await repository.head(branch)).toBeUndefined();
    expect((await getAgentRun(db, key))?.commit).toBeNull();
  });

  it('prevents a new pull request, but still records one that is open', async () => {
    const { push, request, end, key } = await jobAfterAgent();
    const { commit } = await push(key);
    const input = { ...key, commit };
    const { prLink } = await request(input);
    const late = await jobAfterAgent('write b.txt 2');
    const pushed = await late.push(late.key);
    for (const { jobId } of [key, late.key]) await requestAgentJobCancel(db, jobId);
    expect(await failureOf(late.request({ ...late.key, commit: pushed.commit }))).toMatchObject(canceled);
    // As after a crash between opening the pull request and returning it.
    expect(await request(input)).toEqual({ prLink });
    expect(await end({ ...key, result: { kind: 'completed', prLink } })).toEqual({ status: 'failed' });
    expect(await getAgentJob(db, key.jobId)).toMatchObject({ error: 'cancelled', prLink });
  });
});

describe('a message to a job whose change has no pull request yet', () => {
  it('opens the pull request even if the agent changes nothing', async () => {
    const { open, work, push, request, end, jobId, key: firstKey } = await jobAfterAgent();
    const { commit } = await push(firstKey);
    await end({ ...firstKey, result: { kind: 'failed', error: 'The forge refused: x' } });
    await addTestMessage(db, jobId, 'try again');
    const key = { jobId, run: 2 };
    const opened = await open(key);
    expect(opened).toMatchObject({ continues: true, baseCommit: commit, replaces: null });
    expect(await work(key)).toEqual({ kind: 'unchanged' });
    const input = { ...key, commit: null, continues: true };
    const { prLink } = await request(input);
    expect(await pullRequest(prLink)).toMatchObject({ headSha: commit, state: 'open' });
    expect(await request(input)).toEqual({ prLink });
  });
});

describe('a pull request after many messages', () => {
  it('quotes the first prompt and the newest ones', async () => {
    const { open, work, push, request, end, jobId, key: firstKey } = await jobAfterAgent();
    const first = await push(firstKey);
    const { prLink } = await request({ ...firstKey, commit: first.commit });
    await end({ ...firstKey, result: { kind: 'completed', prLink } });
    for (let run = 2; run <= 24; run += 1) {
      await addTestMessage(db, jobId, `write b.txt ${run}`);
      // As after one push each. Run 3 pushed nothing, and run 4 pushed to another pull request.
      if (run !== 3) await keepRunCommit(db, { jobId, run, commit: first.commit, endedPrLink: null });
      await end({ jobId, run, result: { kind: 'completed', prLink: run === 4 ? `${prLink}-other` : prLink } });
    }
    await addTestMessage(db, jobId, 'write c.txt 1');
    const key = { jobId, run: 25 };
    await open(key);
    await work(key);
    const { commit } = await push(key);
    expect(await request({ ...key, commit, continues: true })).toEqual({ prLink });
    const body = (await pullRequest(prLink)).body;
    const newest = Array.from({ length: 18 }, (_, index) => `write b.txt ${index + 7}`);
    expect(body.match(/^write .*$/gm)).toEqual(['write a.txt 1', ...newest, 'write c.txt 1']);
  });
});

describe('a repository', () => {
  it('fails the run with a clear message if it is empty, missing, or lacks the branch', async () => {
    const empty = await createAgentRepository({ empty: true });
    const openFailure = async (job: { repository: string; ref?: string }) => {
      const { id: jobId } = await addTestJob(db, { ...job, prompt: 'write a.txt 1' });
      return await failureOf(activitiesOf(deps()).open({ jobId, run: 1 }));
    };
    expect((await openFailure({ repository: empty.url })).message).toMatch(/is empty, or has no default branch/);
    await empty.remove();
    expect((await openFailure({ repository: empty.url })).message).toMatch(/does not appear to be a git repository/);
    expect(await openFailure({ repository: repository.url, ref: 'nowhere' })).toMatchObject({
      message: 'The repository has no branch nowhere',
      nonRetryable: true,
    });
  });

  /** The failure of a push if `change` happened while the agent worked. */
  const pushFailureAfter = async (change: (branch: string) => Promise<unknown>, { bare = true } = {}) => {
    await repository.remove();
    repository = await createAgentRepository({ bare });
    const { push, branch, key } = await jobAfterAgent();
    await change(branch);
    const failure = await failureOf(push(key));
    return { failure, branch };
  };

  it('that rejects the push with a hook has its message quoted', async () => {
    const { failure } = await pushFailureAfter(async () => {
      const hook = '#!/bin/sh\necho "galley branches are protected"\nexit 1\n';
      await writeFile(join(repository.dir, 'hooks/update'), hook, { mode: 0o755 });
    });
    expect(failure.message).toMatch(/refused the push: hook declined: galley branches are protected/);
  });

  it('is not pushed to if the branch is checked out in it', async () => {
    const checkOut = (branch: string) => repository.git('checkout', '--quiet', '-b', branch);
    const { failure } = await pushFailureAfter(checkOut, { bare: false });
    expect(failure.message).toMatch(/refused the push: branch is currently checked out/);
  });

  it('keeps commits that others pushed to the branch while the agent worked', async () => {
    let otherCommit = '';
    const { failure, branch } = await pushFailureAfter(async (name) => {
      otherCommit = await repository.commit(name, { 'theirs.txt': 'theirs\n' });
    });
    expect(failure).toMatchObject({
      nonRetryable: true,
      message: expect.stringMatching(/^Somebody pushed to galley\/aj_/),
    });
    expect(await repository.head(branch)).toBe(otherCommit);
  });
});

describe('an old job whose repository URL contains a password', () => {
  it('fails without revealing the password', async () => {
    for (const user of ['galley:hunter2', 'hunter2']) {
      const { id: jobId } = await addTestJob(db, { repository: `http://${user}@127.0.0.1:9/acme/docs`, prompt: 'x' });
      const failure = await failureOf(activitiesOf(deps()).open({ jobId, run: 1 }));
      expect(failure).toMatchObject({ nonRetryable: true, type: 'AgentImpossible' });
      expect(failure.message).toMatch(/user or a password.*projects set/);
      expect(failure.message).not.toContain('hunter2');
    }
  });
});

describe("an agent's change", () => {
  it('is not pushed if it contains a submodule commit, and the failure names the path in one short line', async () => {
    const path = `a\u001b[31m\n${'b'.repeat(200)}`;
    const hostile = async (task: AgentTask) => {
      const entry = `160000 commit 1234567890123456789012345678901234567890\t${path}\0`;
      const tree = await gitIn(task.repositoryDir, entry)('mktree', '-z', '--missing');
      return packTree(gitIn(task.repositoryDir), { tree, commit: task.commit, dir: task.scratchDir });
    };
    const { kind, branch, push, key } = await jobAfterAgent('anything', { runner: runnerReturning(hostile) });
    expect(kind).toBe('changed');
    const { message } = await failureOf(push(key));
    expect(message).toMatch(/^The agent pointed a b{198} at another repository's commit/);
    expect(await repository.head(branch)).toBeUndefined();
  });

  // In parts, so that no scanner takes this file for one with a key.
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const docs = { agentPaths: ['docs/**', 'tools/run.sh'] };

  it.each([
    [
      'a token',
      `write docs/a.md line\nwrite docs/b.md x ${token}`,
      {},
      /: docs\/b\.md:1 has what looks like .*GitHub/i,
    ],
    ["one of the operator's secrets", 'write a.txt hunter2-hunter2', {}, /: a\.txt:1 .*one of the operator's secrets/],
    ['a new executable', 'write run.sh x\nexecutable run.sh', {}, /made run\.sh executable/],
    ['one outside of its exact path', 'write docs/x.sh x\nexecutable docs/x.sh', docs, /made docs\/x\.sh executable/],
    ['a CI file', 'write .github/workflows/ci.yml x', {}, /\.github\/workflows\/ci\.yml, which configures CI/],
    ['a CI file that only a star allows', 'write Jenkinsfile x', { agentPaths: ['**'] }, /Jenkinsfile, which config/],
    ['a file that the project does not allow', 'write src/a.ts x', docs, /may only change docs\/\*\*, tools\/run\.sh$/],
    ['a file that is too large', `write a.txt ${'x'.repeat(11 * 1024 * 1024)}`, {}, /a\.txt with more than 10 MiB/],
  ])('is not pushed with %s, and the failure names the place', async (_what, prompt, settings, expected) => {
    const secrets = ['hunter2-hunter2'];
    const { branch, push, key } = await jobAfterAgent(prompt, { secrets }, settings);
    const failure = await failureOf(push(key));
    expect(failure).toMatchObject({ type: 'AgentImpossible', nonRetryable: true });
    expect(failure.message).toMatch(expected);
    expect(failure.message).not.toContain(token);
    expect(failure.message).not.toContain(secrets[0]);
    expect(await repository.head(branch)).toBeUndefined();
  });

  it('is pushed with what the project allows by name, and with a token that the file had before', async () => {
    await repository.commit('main', { 'docs/old.md': `example: ${token}\n` });
    const prompt = `write docs/old.md new ${token}\nwrite tools/run.sh x\nexecutable tools/run.sh`;
    const { branch, push, key } = await jobAfterAgent(prompt, {}, docs);
    const { commit } = await push(key);
    expect(await repository.head(branch)).toBe(commit);
  });

  it('is a signed commit if there is a key', async () => {
    const signingKey = join(folder, 'signing key');
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', signingKey]);
    const { branch, push, key } = await jobAfterAgent('write a.txt 1', { signingKey });
    await push(key);
    const allowed = join(folder, 'allowed');
    await writeFile(allowed, `agent@galley.invalid ${await readFile(`${signingKey}.pub`, 'utf8')}`);
    const verify = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowed}`, 'verify-commit', branch];
    await expect(repository.git(...verify)).resolves.toBeDefined();
    await writeFile(allowed, '');
    await expect(repository.git(...verify)).rejects.toThrow(/No principal matched/);
  });

  it('is not pushed unsigned if the key is unusable, and the failure names no file of the operator', async () => {
    const locked = join(folder, 'locked key');
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', locked]);
    for (const signingKey of [join(folder, 'no key'), locked]) {
      const { branch, push, key } = await jobAfterAgent('write a.txt 1', { signingKey });
      const failure = await failureOf(push(key));
      expect(failure).toMatchObject({ type: 'AgentImpossible', nonRetryable: true });
      expect(failure.message).toMatch(/^The commit can't be signed.*AGENT_COMMIT_SIGNING_KEY$/);
      expect(await repository.head(branch)).toBeUndefined();
    }
  });

  it('is not pushed if git fsck rejects it', async () => {
    const hostile = async (task: AgentTask) => {
      const hook = (await gitIn(task.repositoryDir, 'touch /tmp/x\n')('hash-object', '-w', '--stdin')).trim();
      const inner = await gitIn(task.repositoryDir, `100755 blob ${hook}\tpost-checkout\n`)('mktree');
      const raw = Buffer.concat([Buffer.from('40000 .GIT\0'), Buffer.from(inner, 'hex')]);
      const { stdout } = await execa('git', ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], {
        cwd: task.repositoryDir,
        input: raw,
      });
      return packTree(gitIn(task.repositoryDir), { tree: stdout.trim(), commit: task.commit, dir: task.scratchDir });
    };
    const { branch, push, key } = await jobAfterAgent('anything', { runner: runnerReturning(hostile) });
    const failure = await failureOf(push(key));
    expect(failure).toMatchObject({ type: 'AgentImpossible', nonRetryable: true });
    expect(failure.message).toMatch(/can't be stored.*hasDotgit/);
    expect(await repository.head(branch)).toBeUndefined();
  });

  it.each([
    [
      'a pack outside of its folder',
      { kind: 'changed', packFile: '/etc/passwd', tree: '0'.repeat(40) },
      /left no pack/,
    ],
    ['no pack', { kind: 'changed', packFile: 'nothing', tree: '0'.repeat(40) }, /left no pack/],
    ['a reason with a secret', { kind: 'failed', error: 'exit 3 of agent --key hunter2' }, /agent --key \*\*\*/],
  ] as const)('fails the run with %s', async (_what, outcome, error) => {
    const { kind, key } = await jobAfterAgent('anything', {
      runner: runnerReturning(async () => outcome),
      secrets: ['hunter2'],
    });
    expect(kind).toBe('failed');
    expect((await getAgentRun(db, key))?.outcomeError).toMatch(error);
  });

  it('fails the run if it exceeds the size limit', async () => {
    const { kind, key } = await jobAfterAgent(`write a.txt ${'x'.repeat(500)}`, { maxPackBytes: 50 });
    expect(kind).toBe('failed');
    expect((await getAgentRun(db, key))?.outcomeError).toMatch(/larger than 50 bytes/);
  });

  it('leads to a retry if the runner itself failed, with a failure that does not quote the prompt', async () => {
    const runner = runnerReturning(() => Promise.reject(new Error('agent "anything" died')));
    const failure = await failureOf(jobAfterAgent('anything', { runner }));
    expect(failure).toMatchObject({ nonRetryable: false, type: 'AgentTrouble' });
    expect(failure.message).not.toContain('anything');
  });
});

describe('the forge', () => {
  it('may fail briefly before the agent starts without failing the run', async () => {
    let failuresLeft = 1;
    const error = new ForgeError('down', { status: 502, retryable: true });
    const gitCredentials = () => {
      failuresLeft -= 1;
      return failuresLeft >= 0 ? Promise.reject(error) : Promise.resolve(null);
    };
    const { id: jobId } = await add('write a.txt 1');
    await activitiesOf(deps()).open({ jobId, run: 1 });
    const flaky = activitiesOf(deps({ forgeFor: () => ({ ...forge, gitCredentials }) }));
    expect(await flaky.work({ jobId, run: 1 })).toEqual({ kind: 'changed' });
    expect(failuresLeft).toBe(-1);
  });

  it("provides the repository's credentials for git, and a failure never reveals them", async () => {
    const { id: jobId } = await addTestJob(db, { repository: 'http://127.0.0.1:9/acme/docs', prompt: 'x' });
    const credentials = { username: 'x-access-token', password: 'hunter2' };
    const withCredentials = deps({ forgeFor: () => ({ ...forge, gitCredentials: async () => credentials }) });
    const failure = await failureOf(activitiesOf(withCredentials).open({ jobId, run: 1 }));
    expect(failure).toMatchObject({ nonRetryable: false, type: 'AgentTrouble' });
    expect(failure.message).toMatch(/can't be reached/);
    expect(failure.message).not.toContain('hunter2');
  });
});

describe('a worker without an agent runner', () => {
  it('fails to open a run with that reason, and still records how the run ends', async () => {
    const { id: jobId } = await add('x');
    const { open, end } = activitiesOf(undefined);
    const failure = await failureOf(open({ jobId, run: 1 }));
    expect(failure).toMatchObject({ nonRetryable: true, message: expect.stringContaining('runs no agents') });
    await end({ jobId, run: 1, result: { kind: 'failed', error: failure.message } });
    expect(await getAgentJob(db, jobId)).toMatchObject({ status: 'failed', error: failure.message });
  });
});
