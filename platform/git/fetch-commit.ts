import type { Git, Remote } from './git.ts';
import { GitError } from './git-error.ts';

/** Commits of history that come along: enough to see how things are done here, quick on a long history too. */
const DEPTH = 50;

/** A large repository takes a while; one that doesn't move is given up sooner (`http.lowSpeedTime`). */
const TIMEOUT_MS = 20 * 60_000;

const SHA256_CHARACTERS = 64;

/**
 * Makes a bare repository at `dir` that holds `commit` with some of its history, fetched from `remote`. `branches` is
 * where else to look where the server gives out no commit by its id. Throws `GitError`: `missing` where it is gone.
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

  // Never in refs/heads: what is fetched is nobody's branch here. A branch that isn't there must not spoil the others.
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
