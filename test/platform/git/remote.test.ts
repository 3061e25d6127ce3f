import { join } from 'node:path';
import { fetchCommit } from '../../../forge/git/fetch-commit.ts';
import { createGit } from '../../../forge/git/git.ts';
import { pushBranch } from '../../../forge/git/push-branch.ts';
import { checkBranchName, readRemote } from '../../../forge/git/read-remote.ts';
import { writeCommit } from '../../../forge/git/write-commit.ts';
import { changedFiles } from '../../../platform/git/changed-files.ts';
import { type AgentRepository, createAgentRepository } from '../../helpers/agent-repository.ts';
import { commitFiles } from '../../helpers/commit-files.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const git = createGit({ signal: new AbortController().signal });

const folder = temporaryFolder();
let repository: AgentRepository;

beforeAll(async () => {
  repository = await createAgentRepository();
});

afterAll(async () => {
  await repository.remove();
});

const remote = () => ({ repository: repository.url, credentials: null });

/** Adds `count` commits to `main`. */
const addCommits = (count: number) =>
  commitFiles(repository.dir, { branch: 'main', files: {}, message: 'More', count });

async function fetchMain(dir: string): Promise<string> {
  const commit = (await repository.head('main')) ?? '';
  await fetchCommit(git, { dir, remote: remote(), commit, branches: ['main'] });
  return commit;
}

describe('a remote', () => {
  it('lists its default branch and only the requested branches', async () => {
    const main = await repository.head('main');
    const next = await repository.commit('next', { a: '1' });
    await repository.commit('deep/next', { a: '2' });
    expect(await readRemote(git, remote(), ['next', 'missing', 'ne*'])).toEqual({
      defaultBranch: 'main',
      commits: new Map([
        ['main', main],
        ['next', next],
      ]),
    });
  });

  it('that is empty has no default branch', async () => {
    const empty = await createAgentRepository({ empty: true });
    const heads = await readRemote(git, { repository: empty.url, credentials: null }, ['main']);
    expect(heads).toEqual({ defaultBranch: null, commits: new Map() });
    await empty.remove();
  });

  it.each(['a..b', 'x.lock', '', '*'])('has no branch named %p', async (name) => {
    await expect(checkBranchName(git, name)).rejects.toMatchObject({ name: 'GitError', reason: 'missing' });
  });
});

describe('fetching a commit', () => {
  it('fetches only its recent history', async () => {
    await addCommits(60);
    const dir = join(folder, 'shallow.git');
    const commit = await fetchMain(dir);
    const { stdout } = await git(['rev-list', '--count', commit], { dir });
    expect(Number(stdout)).toBe(50);
  });

  it('finds an older commit if the server only serves branch heads', async () => {
    const old = (await repository.head('main')) ?? '';
    await addCommits(55);
    const strict = createGit({
      signal: new AbortController().signal,
      // In protocol version 0, a server rejects requests for commits that it did not advertise.
      environment: { GIT_CONFIG_PARAMETERS: "'protocol.version'='0'" },
    });
    const dir = join(folder, 'old.git');
    await fetchCommit(strict, { dir, remote: remote(), commit: old, branches: ['main'] });
    expect((await git(['cat-file', '-t', old], { dir })).stdout).toBe('commit\n');
  });

  it('reports a missing commit', async () => {
    const commit = '1234567890123456789012345678901234567890';
    const fetching = fetchCommit(git, { dir: join(folder, 'x.git'), remote: remote(), commit, branches: ['main'] });
    await expect(fetching).rejects.toMatchObject({ reason: 'missing', retryable: false });
  });
});

describe('a commit', () => {
  it('has the same id for the same content, in any repository', async () => {
    const ids = await Promise.all(
      ['one.git', 'two.git'].map(async (name) => {
        const dir = join(folder, name);
        const parent = await fetchMain(dir);
        const { stdout } = await git(['rev-parse', `${parent}^{tree}`], { dir });
        const author = { name: 'Agent Ü', email: 'agent@galley.invalid' };
        const at = new Date('2026-11-21T10:00:00.700Z');
        const message = 'Ein Tïtel\n\nGalley-Job: x';
        return writeCommit(git, { dir, tree: stdout.trim(), parent, author, at, message });
      }),
    );
    expect(ids[0]).toMatch(/^[0-9a-f]{40}$/);
    expect(ids[0]).toBe(ids[1]);
  });
});

describe('pushing', () => {
  it('moves a branch only if its head is the expected one', async () => {
    const dir = join(folder, 'push.git');
    const parent = await fetchMain(dir);
    const tree = (await git(['rev-parse', `${parent}^{tree}`], { dir })).stdout.trim();
    const author = { name: 'A', email: 'a@example.com' };
    const commit = (message: string) => writeCommit(git, { dir, tree, parent, author, at: new Date(0), message });
    const [one, two] = [await commit('one'), await commit('two')];
    const push = (id: string, expected: string | null) =>
      pushBranch(git, { dir, remote: remote(), branch: 'galley/x', commit: id, expected });
    await push(one, null);
    expect(await repository.head('galley/x')).toBe(one);
    await expect(push(two, null)).rejects.toMatchObject({ reason: 'conflict' });
    await expect(push(two, parent)).rejects.toMatchObject({ reason: 'conflict' });
    expect(await repository.head('galley/x')).toBe(one);
    await push(two, one);
    expect(await repository.head('galley/x')).toBe(two);
  });
});

describe('changed files', () => {
  it('are listed by path, whatever characters the path contains', async () => {
    const from = (await repository.head('main')) ?? '';
    await repository.commit('main', { 'a\tb "c"\n.txt': '1', 'README.md': 'x', 'docs/guide.md': null, ünï: '1' });
    const dir = join(folder, 'diff.git');
    const to = await fetchMain(dir);
    expect(await changedFiles(git, { dir, from, to })).toEqual([
      expect.objectContaining({ path: 'README.md', submodule: false, newExecutable: false }),
      expect.objectContaining({ path: 'a\tb "c"\n.txt', before: null, now: expect.stringMatching(/^[0-9a-f]{40}$/) }),
      expect.objectContaining({ path: 'docs/guide.md', now: null }),
      expect.objectContaining({ path: 'ünï', submodule: false }),
    ]);
  });
});
