import type { Git } from '../../forge/git/git.ts';

export type ChangedFile = {
  path: string;
  /** The entry is another repository's commit. */
  submodule: boolean;
  /** It is executable, and wasn't before. */
  newExecutable: boolean;
  /** The file before and now; null: there is none. */
  before: string | null;
  now: string | null;
};

const SUBMODULE_MODE = '160000';
const EXECUTABLE_MODE = '100755';

/** The files that differ between two trees or commits, by path; a renamed one is its old and its new path. */
export async function changedFiles(
  git: Git,
  { dir, from, to }: { dir: string; from: string; to: string },
): Promise<ChangedFile[]> {
  const { stdout } = await git(['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to, '--'], { dir });
  const fields = stdout.split('\0');
  const files: ChangedFile[] = [];
  // Entries come in pairs: `:oldmode newmode oldid newid status`, then the path.
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [oldMode, newMode, before = '', now = ''] = (fields[index] ?? '').slice(1).split(' ');
    files.push({
      path: fields[index + 1] ?? '',
      submodule: newMode === SUBMODULE_MODE,
      newExecutable: newMode === EXECUTABLE_MODE && oldMode !== EXECUTABLE_MODE,
      before: blobOf(before),
      now: blobOf(now),
    });
  }
  return files;
}

/** Zeros stand for no file. */
function blobOf(id: string): string | null {
  return /^0*$/.test(id) ? null : id;
}
