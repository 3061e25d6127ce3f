import { GitError } from '../../forge/git/git-error.ts';
import { isAncestor, readBranch, readCommit } from './commits.ts';
import type { Repository } from './repository.ts';

export type Merge = {
  mergeCommitSha: string;
  headSha: string;
  /** The base branch before the merge; null if unknown. */
  baseSha: string | null;
};

type MergeOutcome =
  | ({ kind: 'merged' } & Merge)
  | { kind: 'conflict'; files: string[] }
  /** The head isn't the expected one. */
  | { kind: 'other-head' }
  /** A sentence: why git can't merge. */
  | { kind: 'refused'; reason: string };

type MergeRequest = {
  headBranch: string;
  /** The last known head, used if its branch is gone. */
  headSha: string;
  /** The head to merge and no other. Undefined: the branch's current one. */
  expectedHead?: string | undefined;
  baseBranch: string;
  message: string;
};

/** The forge is the committer of all merges. */
const COMMITTER = { name: 'Galley', mail: 'galley@galley.invalid' } as const;

/** If the base branch moved meanwhile, merge again, up to this many times. */
const MAX_TRIES = 5;

/**
 * Merges a branch's current head by a commit with two parents. Idempotent: if the base branch already contains the
 * head, it returns the commit that merged it. Of two concurrent calls one merges, and the other finds the result.
 */
export async function mergeBranches(repository: Repository, request: MergeRequest): Promise<MergeOutcome> {
  const { git } = repository;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const baseSha = await readBranch(git, request.baseBranch);
    if (baseSha === undefined) return refused(`The branch ${request.baseBranch} is gone`);
    const branchSha = await readBranch(git, request.headBranch);
    const headSha = branchSha ?? (await readCommit(git, request.headSha));
    if (headSha === undefined) return refused(`The branch ${request.headBranch} is gone`);
    // Compared with the head that is merged, so that no push comes in between.
    if (headSha !== (request.expectedHead ?? headSha)) return { kind: 'other-head' };
    if (await isAncestor(git, headSha, baseSha)) return { kind: 'merged', ...(await findMerge(git, headSha, baseSha)) };
    if (branchSha === undefined) return refused(`The branch ${request.headBranch} is gone`);

    const merged = await git.attempt([
      'merge-tree',
      '--write-tree',
      '-z',
      '--name-only',
      '--no-messages',
      baseSha,
      headSha,
    ]);
    const [tree = '', ...files] = merged.stdout.split('\0').filter((part) => part !== '');
    if (merged.exitCode === 1 && files.length > 0) return { kind: 'conflict', files };
    if (merged.exitCode === 1) return refused('The two branches have no common history');
    const mergeCommitSha = await commitTree(git, { tree, parents: [baseSha, headSha], message: request.message });
    const moved = await moveBranch(repository, { branch: request.baseBranch, from: baseSha, to: mergeCommitSha });
    if (moved.kind === 'moved') return { kind: 'merged', mergeCommitSha, headSha, baseSha };
    if (moved.kind === 'refused') return moved;
  }
  return refused(`The branch ${request.baseBranch} kept moving: try again`);
}

/** The commit that brought the head into the base branch; the head itself after a fast-forward. */
export async function findMerge(git: Repository['git'], headSha: string, baseSha: string): Promise<Merge> {
  const chain = await git.read(['rev-list', '--first-parent', '--parents', baseSha, `^${headSha}`]);
  for (const line of chain.split('\n')) {
    const [sha, mainline, ...others] = line.split(' ');
    if (sha !== undefined && mainline !== undefined && others.includes(headSha)) {
      return { mergeCommitSha: sha, headSha, baseSha: mainline };
    }
  }
  return { mergeCommitSha: headSha, headSha, baseSha: null };
}

async function commitTree(
  git: Repository['git'],
  { tree, parents, message }: { tree: string; parents: string[]; message: string },
): Promise<string> {
  const identity = {
    GIT_AUTHOR_NAME: COMMITTER.name,
    GIT_AUTHOR_EMAIL: COMMITTER.mail,
    GIT_COMMITTER_NAME: COMMITTER.name,
    GIT_COMMITTER_EMAIL: COMMITTER.mail,
  };
  const named = parents.flatMap((parent) => ['-p', parent]);
  return (await git.read(['commit-tree', tree, ...named], { input: message, environment: identity })).trim();
}

function refused(reason: string): { kind: 'refused'; reason: string } {
  return { kind: 'refused', reason };
}

type Move = { branch: string; from: string; to: string };

type MoveOutcome = { kind: 'moved' } | { kind: 'elsewhere' } | { kind: 'refused'; reason: string };

/**
 * Moves a branch unless it has moved meanwhile (`elsewhere`). If it is checked out, the move is a push to it: git then
 * updates a clean work tree and rejects an unclean one. Only then do the repository's hooks run.
 */
async function moveBranch(repository: Repository, move: Move): Promise<MoveOutcome> {
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
