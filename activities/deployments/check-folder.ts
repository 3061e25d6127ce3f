import { access, constants, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errorCode, errorText } from '../../base/error-code.ts';
import type { TargetCheck } from './deployment-target.ts';

export type FolderDeps = {
  /** Missing folders are created under this one only: that of galley.yaml. */
  createUnder?: string | undefined;
};

/**
 * Throws if a folder is missing that isn't under `createUnder`, the folder of galley.yaml: elsewhere it may be a disk that
 * isn't mounted, and what is written there would be lost.
 */
export async function checkFolder(folder: string, createUnder: string | undefined): Promise<void> {
  if (createUnder === undefined || isUnder(folder, createUnder)) return;
  try {
    await stat(folder);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new Error(
      `the folder ${folder} is missing: mount or create it (Galley creates folders in ${createUnder} only)`,
    );
  }
}

/** Whether a folder can be written to, or created: makes a folder in it and removes it. */
export async function checkWritable(folder: string, createUnder: string | undefined): Promise<TargetCheck> {
  try {
    await checkFolder(folder, createUnder);
    const existing = await nearestFolder(folder);
    if (existing === folder) await rmdir(await mkdtemp(join(folder, '.galley-doctor-')));
    else await access(existing, constants.W_OK | constants.X_OK);
    const message = existing === folder ? `${folder} can be written` : `${folder} can be created by the first deploy`;
    return { message, fix: null };
  } catch (error) {
    const fix = 'Create or mount the folder, and let the user of the worker write to it.';
    return { message: `${folder} can't be written: ${errorText(error)}`, fix };
  }
}

/** The folder, or the nearest one above it that exists. @throws ENOTDIR if one of them is a file. */
export async function nearestFolder(folder: string): Promise<string> {
  try {
    // With the dot it must be a folder; `join` would drop it.
    await stat(`${folder}/.`);
    return folder;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    return await nearestFolder(dirname(folder));
  }
}

function isUnder(folder: string, parent: string): boolean {
  const path = relative(parent, folder);
  return path !== '..' && !path.startsWith(`..${sep}`);
}
