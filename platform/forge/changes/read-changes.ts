import { type Commit, countCommits, listCommits, mergeBase, readCommit } from '../commits.ts';
import type { RepositoryGit } from '../git.ts';
import type { Repository } from '../repository.ts';
import { type ChangedFile, DIFF, listChangedFiles } from './changed-files.ts';

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

/** A line of a hunk. `kind` is its sign in the patch. */
type PatchLine = { kind: ' ' | '+' | '-'; text: string; endsWithoutNewline: boolean };

type Hunk = { header: string; oldStart: number; newStart: number; lines: PatchLine[] };

/** A file's hunks; empty if it is binary or only its mode or name changed. */
type FilePatch = { hunks: Hunk[] };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Parses git's patch text, files in git's order. Exactly as many lines as the hunk's header says belong to the hunk, so
 * a line that looks like a header or contains a carriage return can't hide anything. Truncated text ends with the last
 * whole line.
 */
function parsePatch(text: string): FilePatch[] {
  // After the last line break comes nothing or a partial line.
  const lines = text.split('\n').slice(0, -1);
  const files: FilePatch[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const file = files.at(-1);
    if (line.startsWith('diff --git ')) files.push({ hunks: [] });
    const head = HUNK.exec(line);
    if (head === null || file === undefined) continue;
    const hunk: Hunk = { header: line, oldStart: Number(head[1]), newStart: Number(head[3]), lines: [] };
    file.hunks.push(hunk);
    at = readHunk(lines, at, hunk, { old: Number(head[2] ?? 1), new: Number(head[4] ?? 1) });
  }
  return files;
}

/** Returns the index of the hunk's last line. */
function readHunk(lines: readonly string[], start: number, hunk: Hunk, left: { old: number; new: number }): number {
  let at = start;
  while (at + 1 < lines.length) {
    const line = lines[at + 1] ?? '';
    const last = hunk.lines.at(-1);
    if (line.startsWith('\\')) {
      if (last !== undefined) last.endsWithoutNewline = true;
    } else {
      if (left.old <= 0 && left.new <= 0) break;
      const kind = kindOf(line);
      hunk.lines.push({ kind, text: line.slice(1), endsWithoutNewline: false });
      if (kind !== '+') left.old -= 1;
      if (kind !== '-') left.new -= 1;
    }
    at += 1;
  }
  return at;
}

/** Git writes an empty context line as a space. */
function kindOf(line: string): PatchLine['kind'] {
  const sign = line.charAt(0);
  return sign === '+' || sign === '-' ? sign : ' ';
}
