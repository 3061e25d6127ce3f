import { GitError } from '../git/git-error.ts';
import type { Repository } from './repository.ts';

export type Move = { branch: string; from: string; to: string };

export type MoveOutcome = { kind: 'moved' } | { kind: 'elsewhere' } | { kind: 'refused'; reason: string };

/**
 * Moves a branch unless somebody else has moved it (`elsewhere`). Where it is checked out, git's own way of receiving a
 * push moves it, which updates a clean work tree and refuses an unclean one; only there do the repository's hooks run.
 */
export async function moveBranch(repository: Repository, move: Move): Promise<MoveOutcome> {
  const { git } = repository;
  if (await isCheckedOut(repository, move.branch)) return await pushInto(repository, move);
  try {
    await git.read(['update-ref', '-m', 'merge of a pull request', `refs/heads/${move.branch}`, move.to, move.from]);
    return { kind: 'moved' };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if ((await git.ask(['rev-parse', '--verify', '--quiet', `refs/heads/${move.branch}`]))?.trim() !== move.from) {
      return { kind: 'elsewhere' };
    }
    throw error;
  }
}

async function isCheckedOut({ git }: Repository, branch: string): Promise<boolean> {
  const worktrees = (await git.read(['worktree', 'list', '--porcelain', '-z'])).split('\0\0');
  return worktrees.map((each) => each.split('\0')).some((lines) => lines.includes(`branch refs/heads/${branch}`));
}

/** The repository is the operator's: who owns its files is no reason to refuse. */
const RECEIVE = "git -c safe.directory='*' -c receive.denyCurrentBranch=updateInstead receive-pack";

async function pushInto({ git, dir }: Repository, { branch, from, to }: Move): Promise<MoveOutcome> {
  const ref = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${ref}:${from}`;
  const { exitCode, stdout } = await git.attempt([
    'push',
    '--porcelain',
    '--no-verify',
    lease,
    `--receive-pack=${RECEIVE}`,
    dir,
    `${to}:${ref}`,
  ]);
  if (exitCode === 0) return { kind: 'moved' };
  const why = /^!.*\[(?:remote )?rejected\] \((.*)\)$/m.exec(stdout)?.[1] ?? '';
  if (why === 'stale info' || why === 'fetch first' || /lock|expected/.test(why)) return { kind: 'elsewhere' };
  return {
    kind: 'refused',
    reason: `The branch ${branch} is checked out, and its work tree can not be updated${why === '' ? '' : `: ${why}`}`,
  };
}
