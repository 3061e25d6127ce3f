import { setMaxListeners } from 'node:events';
import { createGit, type GitAnswer, type GitRun } from '../git/git.ts';

type Arguments = readonly [string, ...string[]];

/** Git on one repository on this machine. */
export type RepositoryGit = {
  /** What git printed. Throws `GitError` where it fails. */
  read(args: Arguments, run?: GitRun): Promise<string>;
  /** What git printed, or undefined where it ends with 1, which is how it says no. */
  ask(args: Arguments, run?: GitRun): Promise<string | undefined>;
  /** Whether git ended with 0 or with 1, and what it printed. Throws `GitError` for any other end. */
  attempt(args: Arguments, run?: GitRun): Promise<GitAnswer>;
};

const TIMEOUT_MS = 30_000;

const { signal } = new AbortController();
// Every git under way listens to it, and there may be many; Node takes more than ten for a leak.
setMaxListeners(0, signal);

const run = createGit({ signal });

/**
 * The machine's configuration and the repository's hooks don't count. The repository's own configuration does: it is
 * the operator's, who named it.
 */
export function gitIn(gitDir: string): RepositoryGit {
  const attempt: RepositoryGit['attempt'] = (args, options) =>
    run(args, { timeoutMs: TIMEOUT_MS, accept: [1], ...options, dir: gitDir });
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
