import { join } from 'node:path';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { findOnPath } from '../../embedded/find-on-path.ts';

/**
 * A program that only `npm run test:system` needs: on the PATH, else in `bin` of the user's cache folder, where
 * `npm run setup:system` puts it. A missing one is a failure that names the command, never a skip.
 */
export async function locateRealTool(name: string): Promise<string> {
  const found = (await findOnPath(name)) ?? (await findOnPath(name, join(cacheFolder(), 'bin')));
  if (found === undefined) throw new Error(`${name} is not installed. Run: npm run setup:system`);
  return found;
}
