import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gitIn, type TreeGit } from './script-runner.ts';

export type AgentRepository = {
  dir: string;
  /** Its file:// address. */
  url: string;
  git: TreeGit;
  /** Commits these files (null removes one) on a branch, as a person would, and returns the commit. */
  commit(branch: string, files: Record<string, string | null>, message?: string): Promise<string>;
  /** The files of a branch or commit by path. */
  files(revision: string): Promise<Record<string, string>>;
  /** The commit that a branch is on; undefined where there is no such branch. */
  head(branch: string): Promise<string | undefined>;
  remove(): Promise<void>;
};

/** A real repository of its own for agents to work on, with one commit on `main`: bare, or with `main` checked out. */
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
    async commit(branch, changes, message = 'A change') {
      const clone = await mkdtemp(join(tmpdir(), 'galley-clone-'));
      try {
        const work = gitIn(clone);
        await work('clone', '--quiet', dir, '.');
        const known = (await work('branch', '--remotes', '--list', `origin/${branch}`)) !== '';
        await work('checkout', '--quiet', '-B', branch, ...(known ? [`origin/${branch}`] : []));
        for (const [path, text] of Object.entries(changes)) {
          await mkdir(dirname(join(clone, path)), { recursive: true });
          await (text === null ? rm(join(clone, path)) : writeFile(join(clone, path), text));
        }
        await work('add', '--all');
        await work('commit', '--quiet', '--allow-empty', '--message', message);
        await work('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
        return await work('rev-parse', 'HEAD');
      } finally {
        await rm(clone, { recursive: true, force: true });
      }
    },
    async files(revision) {
      const listed = await git('ls-tree', '-r', '-z', '--name-only', revision);
      const names = listed.split('\0').filter((name) => name !== '');
      const entries = names.map(async (name) => [name, await git('show', `${revision}:${name}`)] as const);
      return Object.fromEntries(await Promise.all(entries));
    },
    head: (branch) => git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).catch(() => undefined),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  if (!empty) {
    // A branch that is checked out takes no push unless it is told to.
    if (!bare) await git('config', 'receive.denyCurrentBranch', 'updateInstead');
    await repository.commit('main', files, 'Begin');
    if (!bare) await git('config', '--unset', 'receive.denyCurrentBranch');
  }
  return repository;
}
