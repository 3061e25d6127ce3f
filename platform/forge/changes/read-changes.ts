import { type Commit, countCommits, listCommits, mergeBase, readCommit } from '../commits.ts';
import type { RepositoryGit } from '../git.ts';
import type { Repository } from '../repository.ts';
import { type ChangedFile, DIFF, listChangedFiles } from './changed-files.ts';
import { type FilePatch, parsePatch } from './parse-patch.ts';

export type Change = ChangedFile & {
  /** Null if it exceeds the limits. */
  patch: FilePatch | null;
};

/** The contents of a pull request. */
export type Changes = {
  commitCount: number;
  /** Newest first, up to a limit. */
  commits: Commit[];
  files: Change[];
};

type Ends = { baseSha: string; headSha: string };

const COMMITS = 100;
/** Larger diffs aren't readable: the files are listed instead. */
const PATCH_CHARACTERS = 600_000;

/** The range from the merge base to the head; undefined if git no longer has these commits. */
export async function changedRange(
  git: RepositoryGit,
  { baseSha, headSha }: Ends,
): Promise<{ from: string; to: string } | undefined> {
  const [base, head] = await Promise.all([readCommit(git, baseSha), readCommit(git, headSha)]);
  if (base === undefined || head === undefined) return undefined;
  const from = await mergeBase(git, base, head);
  return from === undefined ? undefined : { from, to: head };
}

const reading = new Map<string, Promise<Changes | undefined>>();

/** Undefined if git no longer has the commits. Concurrent calls for the same commits share the work. */
export async function readChanges({ git, dir }: Repository, ends: Ends): Promise<Changes | undefined> {
  const key = `${dir} ${ends.baseSha} ${ends.headSha}`;
  const changes = reading.get(key) ?? readFromGit(git, ends).finally(() => reading.delete(key));
  reading.set(key, changes);
  return await changes;
}

async function readFromGit(git: RepositoryGit, ends: Ends): Promise<Changes | undefined> {
  const range = await changedRange(git, ends);
  if (range === undefined) return undefined;
  const [commitCount, commits, files, patch] = await Promise.all([
    countCommits(git, range),
    listCommits(git, { ...range, limit: COMMITS }),
    listChangedFiles(git, range),
    git.read([...DIFF, '--patch', '--unified=3', range.from, range.to, '--'], {
      maxOutputBytes: PATCH_CHARACTERS,
      cutOutput: true,
    }),
  ]);
  return { commitCount, commits, files: withPatches(files, parsePatch(patch)) };
}

/** If a file changes its type, git reports a deleted and an added file. */
function withPatches(files: readonly ChangedFile[], patches: readonly FilePatch[]): Change[] {
  let at = 0;
  return files.map((file) => {
    const own = patches.slice(at, at + (file.status === 'changed' ? 2 : 1));
    at += own.length;
    return { ...file, patch: own.length === 0 ? null : { hunks: own.flatMap((patch) => patch.hunks) } };
  });
}
