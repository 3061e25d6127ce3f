import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { type Changes, commitFiles, GIT_ENVIRONMENT } from './commit-files.ts';

export type TestRepository = {
  /** The URL in a project's settings. */
  url: string;
  dir: string;
  /** Commits files on a branch (null removes one) and returns the SHA. A missing branch starts at `main`. */
  commit(branch: string, files: Changes, message?: string): Promise<string>;
  git(...args: string[]): Promise<string>;
  remove(): Promise<void>;
};

/** Creates a repository with these files on `main`: bare, or with `main` checked out. */
export async function createTestRepository(
  files: Changes,
  { bare = true }: { bare?: boolean } = {},
): Promise<TestRepository> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-repository-'));
  const dir = join(folder, 'acme', bare ? 'docs.git' : 'docs');
  const run = async (cwd: string, args: readonly string[]): Promise<string> =>
    (await execa('git', args, { cwd, env: GIT_ENVIRONMENT })).stdout;
  await mkdir(dir, { recursive: true });
  await run(folder, ['init', '--quiet', '--initial-branch=main', ...(bare ? ['--bare'] : []), dir]);
  const commit: TestRepository['commit'] = (
    branch,
    changes,
    message = `Change ${Object.keys(changes).join(', ')}`.slice(0, 200),
  ) => commitFiles(dir, { branch, files: changes, message, bare });
  await commit('main', files, 'Begin');
  return {
    url: pathToFileURL(dir).href,
    dir,
    commit,
    git: (...args) => run(dir, args),
    // A write that is still running may add a file.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
}
