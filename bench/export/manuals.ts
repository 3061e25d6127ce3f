import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { execa } from 'execa';

/** The sites that every contender exports: manuals from Debian packages. */
export const MANUALS = {
  postgresql: {
    title: 'postgresql-doc-15',
    package: 'postgresql-doc-15',
    home: /\/doc\/postgresql-doc-15\/html\/index\.html$/,
  },
  openjdk: { title: 'openjdk-17-doc', package: 'openjdk-17-doc', home: /\/api\/index\.html$/ },
} as const;

export type ManualName = keyof typeof MANUALS;

/** Thrown if a manual is missing. Names all missing packages and the command that installs them. */
export class ManualsMissing extends Error {
  override readonly name = 'ManualsMissing';
}

/** The folder of each manual. @throws ManualsMissing */
export async function findManuals(names: readonly ManualName[]): Promise<Partial<Record<ManualName, string>>> {
  const folders: Partial<Record<ManualName, string>> = {};
  const missing: string[] = [];
  for (const name of names) {
    const folder = await folderOf(name);
    if (folder === undefined) missing.push(MANUALS[name].package);
    else folders[name] = folder;
  }
  if (missing.length > 0) {
    throw new ManualsMissing(
      `These Debian packages are missing. Run: apt-get install --no-install-recommends ${missing.join(' ')}`,
    );
  }
  return folders;
}

async function folderOf(name: ManualName): Promise<string | undefined> {
  const listed = await execa('dpkg', ['-L', MANUALS[name].package], { reject: false });
  const home = String(listed.stdout ?? '')
    .split('\n')
    .find((path) => MANUALS[name].home.test(path));
  // Minimal images drop documentation: the package is installed, but its files are missing.
  return home === undefined ? undefined : await realpath(dirname(home)).catch(() => undefined);
}
