import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { findOnPath } from './find-on-path.ts';

/** Thrown if git isn't installed; the message is for the user. */
export class GitUnavailable extends Error {
  override readonly name = 'GitUnavailable';
}

/** @throws GitUnavailable */
export async function requireGit(): Promise<void> {
  if ((await findOnPath('git')) !== undefined) return;
  throw new GitUnavailable(
    'Agent jobs need git, which is not on the PATH: install it (Debian and Ubuntu: apt-get install git).',
  );
}

export interface BareRepository {
  folder: string;
  /** The URL for a project. */
  url: string;
  branch: string;
  /** Runs git on it and resolves with its output. */
  git(...args: string[]): Promise<string>;
}

/** Ignores the git configuration of this machine. */
const ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/**
 * Creates a bare repository at `folder` with one commit on `main` that holds these files, by path. @throws
 * GitUnavailable
 */
export async function createBareRepository(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<BareRepository> {
  await requireGit();
  const work = await mkdtemp(join(tmpdir(), 'galley-repository-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(work, path)), { recursive: true });
      await writeFile(join(work, path), text);
    }
    await git(work, 'init', '--quiet', '--initial-branch=main');
    await git(work, 'add', '--all');
    await git(work, 'commit', '--quiet', '--message', 'Begin');
    await git(work, 'clone', '--quiet', '--bare', work, folder);
    await git(folder, 'remote', 'remove', 'origin');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { folder, url: pathToFileURL(folder).href, branch: 'main', git: (...args) => git(folder, ...args) };
}

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await execa('git', args, { cwd, env: ENVIRONMENT });
  return stdout;
}
