import { type Git, type Remote, secretsOf } from './git.ts';
import { GitError, remoteWords } from './git-error.ts';

const TIMEOUT_MS = 20 * 60_000;

/** Temporary rejections: a concurrent push, or a server error. */
const PASSING = /lock|failed to update ref|unpacker|internal|timed? ?out|try again|unavailable/i;

/** Git's words for a branch that isn't at the lease's commit. */
const MOVED = /stale info|non-fast-forward|fetch first/;

/**
 * Sets a remote branch to a commit of the bare repository at `dir`, if the branch is still at `expected` (null: doesn't
 * exist). Throws `GitError`: `conflict` if it has moved, `rejected` if a rule of the server rejects it.
 */
export async function pushBranch(
  git: Git,
  push: { dir: string; remote: Remote; branch: string; commit: string; expected: string | null },
): Promise<void> {
  const { dir, remote, branch, commit, expected } = push;
  const ref = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${ref}:${expected ?? ''}`;
  const args = ['push', '--porcelain', '--no-verify', lease, '--', remote.repository, `${commit}:${ref}`] as const;
  const { exitCode, stdout, stderr } = await git(args, { dir, remote, timeoutMs: TIMEOUT_MS, accept: [1] });
  if (exitCode === 0) return;
  const refusal = /^!\t[^\t]*\t(.*)$/m.exec(stdout)?.[1] ?? 'the push failed';
  if (MOVED.test(refusal)) throw new GitError(`the branch ${branch} has moved meanwhile`, 'conflict');
  const why = /\(([^()]*)\)/.exec(refusal)?.[1] ?? refusal;
  const words = remoteWords(stderr, secretsOf(remote));
  const message = `the repository refused the push: ${why}${words === '' ? '' : `: ${words}`}`;
  throw new GitError(message, PASSING.test(why) ? 'unreachable' : 'rejected');
}
