import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';

export type TestRepository = {
  /** As a project names it. */
  url: string;
  dir: string;
  /** One commit on a branch, which is made from `main` where it is missing; null removes a file. Answers its SHA. */
  commit(
    branch: string,
    files: Readonly<Record<string, string | Uint8Array | null>>,
    message?: string,
  ): Promise<string>;
  git(...args: string[]): Promise<string>;
  remove(): Promise<void>;
};

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** A repository whose branch `main` holds these files; bare, or with `main` checked out. */
export async function createTestRepository(
  files: Readonly<Record<string, string | Uint8Array | null>>,
  { bare = true }: { bare?: boolean } = {},
): Promise<TestRepository> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-repository-'));
  const dir = join(folder, 'acme', bare ? 'docs.git' : 'docs');
  const work = join(folder, 'work');
  const run = async (cwd: string, args: readonly string[]): Promise<string> =>
    (await execa('git', args, { cwd, env: IDENTITY })).stdout;
  await mkdir(dir, { recursive: true });
  await run(folder, ['init', '--quiet', '--initial-branch=main', ...(bare ? ['--bare'] : []), dir]);
  await run(folder, ['clone', '--quiet', dir, work]);
  await run(work, ['checkout', '--quiet', '-B', 'main']);

  async function commit(
    branch: string,
    changes: Readonly<Record<string, string | Uint8Array | null>>,
    message = `Change ${Object.keys(changes).join(', ')}`.slice(0, 200),
  ): Promise<string> {
    await run(work, ['fetch', '--quiet', 'origin']);
    const known = await run(work, ['branch', '--remotes', '--list', `origin/${branch}`, 'origin/main']);
    const from = known.includes(`origin/${branch}`) ? `origin/${branch}` : 'origin/main';
    if (known !== '') await run(work, ['checkout', '--quiet', '--force', '-B', branch, from]);
    for (const [path, content] of Object.entries(changes)) {
      if (content === null) await rm(join(work, path));
      else {
        await mkdir(dirname(join(work, path)), { recursive: true });
        await writeFile(join(work, path), content);
      }
    }
    await run(work, ['add', '--all']);
    await run(work, ['commit', '--quiet', '--allow-empty', '--message', message]);
    const receive = '--receive-pack=git -c receive.denyCurrentBranch=updateInstead receive-pack';
    await run(work, ['push', '--quiet', receive, 'origin', `HEAD:refs/heads/${branch}`]);
    return await run(work, ['rev-parse', 'HEAD']);
  }

  await commit('main', files, 'Begin');
  return {
    url: pathToFileURL(dir).href,
    dir,
    commit,
    git: (...args) => run(dir, args),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
