import { stat } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { errorCode } from '../../contract/error-code.ts';

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

function isUnder(folder: string, parent: string): boolean {
  const path = relative(parent, folder);
  return path !== '..' && !path.startsWith(`..${sep}`);
}
