import type { Git, Remote } from './git.ts';
import { GitError } from './git-error.ts';

/** Depth of the fetched history: enough to see a repository's conventions, and fast for long histories. */
const DEPTH = 50;

/** A large repository takes long; a stalled connection is aborted earlier (`http.lowSpeedTime`). */
const TIMEOUT_MS = 20 * 60_000;

const SHA256_CHARACTERS = 64;

/**
 * Creates a bare repository at `dir` with `commit` and some of its history, fetched from `remote`. `branches` are
 * fetched if the server serves no commit by its id. Throws `GitError`: `missing` if it is gone.
 */
export async function fetchCommit(
  git: Git,
  { dir, remote, commit, branches }: { dir: string; remote: Remote; commit: string; branches: readonly string[] },
): Promise<void> {
  const format = commit.length === SHA256_CHARACTERS ? 'sha256' : 'sha1';
  await git(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '--', dir]);

  const fetch = async (depth: readonly string[], refs: readonly string[]): Promise<void> => {
    const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
    await git(['fetch', ...quiet, ...depth, '--', remote.repository, ...refs], { dir, remote, timeoutMs: TIMEOUT_MS });
  };

  // Not into refs/heads, because these aren't branches of this repository. Fetch one by one, so that a missing branch
  // doesn't fail the others.
  const shallow = [`--depth=${DEPTH}`];
  const steps: (() => Promise<void>)[] = [
    () => fetch(shallow, [`${commit}:refs/galley/base`]),
    ...branches.map((name) => () => fetch(shallow, [`+refs/heads/${name}:refs/galley/heads/${name}`])),
    () => fetch(shallow, ['+HEAD:refs/galley/head']),
    () => fetch(['--depth=2147483647'], ['+refs/heads/*:refs/galley/heads/*']),
  ];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof GitError) || error.reason !== 'missing') throw error;
    }
    if (await holdsCommit(git, dir, commit)) {
      await git(['update-ref', 'refs/galley/base', commit], { dir });
      return;
    }
  }
  throw new GitError(`the commit ${commit} is no longer in the repository`, 'missing');
}

async function holdsCommit(git: Git, dir: string, commit: string): Promise<boolean> {
  const { exitCode } = await git(['cat-file', '-e', `${commit}^{commit}`], { dir, accept: [1, 128] });
  return exitCode === 0;
}
