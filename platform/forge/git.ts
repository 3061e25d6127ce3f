import pLimit from 'p-limit';
import { createGit, type GitResult, type GitRun } from '../../forge/git/git.ts';

type Arguments = readonly [string, ...string[]];

/** Git on one local repository. */
export type RepositoryGit = {
  /** Returns git's output. Throws `GitError` if it fails. */
  read(args: Arguments, run?: GitRun): Promise<string>;
  /** Git's output; undefined for exit code 1, which means "no". */
  ask(args: Arguments, run?: GitRun): Promise<string | undefined>;
  /** Whether git's exit code was 0 or 1, and its output. Throws `GitError` for any other. */
  attempt(args: Arguments, run?: GitRun): Promise<GitResult>;
};

const TIMEOUT_MS = 30_000;

const run = createGit({ signal: new AbortController().signal });

/** Anyone who has a pull request's link can load its page, and each page takes several processes. */
const limit = pLimit(8);

/**
 * Ignores the machine's configuration and the repository's hooks, but not the repository's own configuration, which is
 * the operator's.
 */
export function gitIn(gitDir: string): RepositoryGit {
  const attempt: RepositoryGit['attempt'] = (args, options) =>
    limit(() => run(args, { timeoutMs: TIMEOUT_MS, accept: [1], ...options, dir: gitDir }));
  return {
    attempt,
    async read(args, options) {
      return (await attempt(args, { ...options, accept: [] })).stdout;
    },
    async ask(args, options) {
      const { exitCode, stdout } = await attempt(args, options);
      return exitCode === 0 ? stdout : undefined;
    },
  };
}
