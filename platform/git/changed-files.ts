import type { Git } from '../../forge/git/git.ts';

type ChangedFile = {
  path: string;
  /** The entry is another repository's commit. */
  submodule: boolean;
};

const SUBMODULE_MODE = '160000';

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
    const [, newMode = ''] = (fields[index] ?? '').slice(1).split(' ');
    files.push({ path: fields[index + 1] ?? '', submodule: newMode === SUBMODULE_MODE });
  }
  return files;
}
