import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents.
 * Node's recursive mkdir never returns if a parent folder exists but takes no entries, as in /proc.
 */
export async function makeFolder(folder: string, options: { mode?: number } = {}): Promise<void> {
  if (await isFolder(folder)) return;
  if (!(await isFolder(dirname(folder)))) await makeFolder(dirname(folder), options);
  // Another command may have created it first.
  await mkdir(folder, options).catch(async (error: unknown) => {
    if (!(await isFolder(folder))) throw error;
  });
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
