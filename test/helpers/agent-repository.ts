import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { commitFiles } from './commit-files.ts';
import { gitIn, type TreeGit } from './script-runner.ts';

export type AgentRepository = {
  dir: string;
  /** Its file:// URL. */
  url: string;
  git: TreeGit;
  /** Commits these files (null removes one) on a branch and returns the commit. */
  commit(branch: string, files: Record<string, string | null>, message?: string): Promise<string>;
  /** The files of a branch or commit, by path. */
  files(revision: string): Promise<Record<string, string>>;
  /** The commit of a branch. `undefined` if there is no such branch. */
  head(branch: string): Promise<string | undefined>;
  remove(): Promise<void>;
};

/** Creates a real git repository with one commit on `main`: bare, or with `main` checked out. */
export async function createAgentRepository({
  bare = true,
  empty = false,
  files = { 'README.md': 'Hello\n', 'docs/guide.md': 'A guide\n' },
}: {
  bare?: boolean;
  empty?: boolean;
  files?: Record<string, string>;
} = {}): Promise<AgentRepository> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-repository-'));
  const dir = join(folder, bare ? 'site.git' : 'site');
  await gitIn(folder)('init', '--quiet', '--initial-branch=main', ...(bare ? ['--bare'] : []), dir);
  const git = gitIn(dir);

  const repository: AgentRepository = {
    dir,
    url: pathToFileURL(dir).href,
    git,
    commit: (branch, changes, message = 'A change') => commitFiles(dir, { branch, files: changes, message, bare }),
    async files(revision) {
      const listed = await git('ls-tree', '-r', '-z', '--name-only', revision);
      const names = listed.split('\0').filter((name) => name !== '');
      const entries = names.map(async (name) => [name, await git('show', `${revision}:${name}`)] as const);
      return Object.fromEntries(await Promise.all(entries));
    },
    head: (branch) => git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).catch(() => undefined),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  if (!empty) await repository.commit('main', files, 'Begin');
  return repository;
}
