import { join } from 'node:path';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { findOnPath } from '../../embedded/find-on-path.ts';

/**
 * Locates a program of the system tier: on the PATH, or in `bin` of the user's cache folder, where `npm run setup:system`
 * installs it. @throws Error that names this command if the program is missing, so that no test is skipped silently.
 */
export async function locateRealTool(name: string): Promise<string> {
  const found = (await findOnPath(name)) ?? (await findOnPath(name, join(cacheFolder(), 'bin')));
  if (found === undefined) throw new Error(`${name} is not installed. Run: npm run setup:system`);
  return found;
}
