import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ForgeError } from '../../forge/forge-error.ts';
import { GitError } from '../../forge/git/git-error.ts';
import { gitIn, type RepositoryGit } from './git.ts';

export type Repository = { git: RepositoryGit; dir: string };

/**
 * Normalizes a `file://` URL, which identifies pull requests. Throws a `ForgeError` 422 for any other URL, because the
 * embedded forge only works on local folders.
 */
export function repositoryUrl(repository: string): string {
  return pathToFileURL(repositoryDir(repository)).href;
}

function repositoryDir(repository: string): string {
  try {
    return resolve(fileURLToPath(repository));
  } catch {
    throw new ForgeError('The embedded forge takes repositories with a file:// URL only', {
      status: 422,
      retryable: false,
    });
  }
}

/** The last two parts of the path, in place of `owner/name`. */
export function fullNameOf(url: string): string {
  const dir = repositoryDir(url);
  return [basename(dirname(dir)) || 'local', basename(dir).replace(/\.git$/, '') || 'repository'].join('/');
}

/** Git on the repository. Throws a `ForgeError` 404 if it doesn't exist (any more). */
export async function openRepository(url: string): Promise<Repository> {
  const dir = repositoryDir(url);
  const dotGit = join(dir, '.git');
  try {
    await stat(dir);
    // Set explicitly, because git would also search the parent folders.
    const git = gitIn((await isThere(dotGit)) ? dotGit : dir);
    await git.read(['rev-parse', '--git-dir']);
    return { git, dir };
  } catch (error) {
    if (error instanceof GitError && error.retryable) throw error;
    throw new ForgeError('There is no git repository at this URL', { status: 404, retryable: false });
  }
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
