import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { programName } from './cache-folder.ts';

/** The first executable of this name on the PATH; undefined if there is none. */
export async function findOnPath(
  name: string,
  path: string | undefined = process.env.PATH,
): Promise<string | undefined> {
  for (const folder of (path ?? '').split(delimiter).filter((entry) => entry !== '')) {
    const candidate = join(folder, programName(name));
    const usable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return candidate;
  }
  return undefined;
}
