import { GitError } from '../../forge/git/git-error.ts';
import type { Repository } from './repository.ts';

type Move = { branch: string; from: string; to: string };

type MoveOutcome = { kind: 'moved' } | { kind: 'elsewhere' } | { kind: 'refused'; reason: string };

/**
 * Moves a branch unless it has moved meanwhile (`elsewhere`). If it is checked out, the move is a push to it: git then
 * updates a clean work tree and rejects an unclean one. Only then do the repository's hooks run.
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

/** The operator chose the repository, so the owner of its files doesn't matter. */
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
