import { chmod, constants, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../base/error-code.ts';

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

const STICKY = 0o1000;

/**
 * Takes a folder or file from all other users, if it is there. What belongs to another user, such as a volume, and a
 * folder that is meant for everyone keep their modes.
 */
export async function makePrivate(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error;
  });
  if (found === undefined) return;
  const { mode, uid } = found;
  const isShared = (mode & constants.S_IRWXO) === constants.S_IRWXO && (mode & STICKY) !== 0;
  const isOpen = (mode & (constants.S_IRWXG | constants.S_IRWXO)) !== 0;
  if (uid === process.getuid?.() && isOpen && !isShared) await chmod(path, mode & constants.S_IRWXU);
}
