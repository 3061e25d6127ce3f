import type { CommitRange } from '../commits.ts';
import type { RepositoryGit } from '../git.ts';

/** One file of a diff. Counts are lines; null for a binary file. */
export type ChangedFile = {
  path: string;
  /** The old path; null if it wasn't moved or copied. */
  previousPath: string | null;
  status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied' | 'changed';
  additions: number | null;
  deletions: number | null;
  oldMode: string;
  newMode: string;
};

/**
 * Options of every diff: run nothing that a repository configures, and detect moves. All diffs use them, so that lists
 * and patches name the same files in the same order.
 */
export const DIFF = [
  'diff',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--find-renames',
  '--no-relative',
] as const;

/** Enough for hundreds of thousands of files. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** The files changed between two commits, in git's order. */
export async function listChangedFiles(git: RepositoryGit, { from, to }: CommitRange): Promise<ChangedFile[]> {
  const fields = (
    await git.read([...DIFF, '--raw', '--numstat', '-z', from, to, '--'], { maxOutputBytes: MAX_LIST_BYTES })
  ).split('\0');
  const files: ChangedFile[] = [];
  let at = 0;
  const next = (): string => fields[at++] ?? '';
  while (fields[at]?.startsWith(':')) {
    const [oldMode = '', newMode = '', , , letter = ''] = next().slice(1).split(' ');
    const status = STATUSES[letter.charAt(0)] ?? 'changed';
    const first = next();
    const moved = status === 'renamed' || status === 'copied';
    const [path, previousPath] = moved ? [next(), first] : [first, null];
    files.push({ path, previousPath, status, additions: null, deletions: null, oldMode, newMode });
  }
  for (const file of files) {
    const [additions = '-', deletions = '-', path = ''] = next().split('\t');
    if (path === '') at += 2;
    if (additions === '-') continue;
    file.additions = Number(additions);
    file.deletions = Number(deletions);
  }
  return files;
}

const STATUSES: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  C: 'copied',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
};
