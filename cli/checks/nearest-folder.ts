import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../contract/error-code.ts';

/** The folder, or the nearest one above it that exists. @throws ENOTDIR if one of them is a file. */
export async function nearestFolder(folder: string): Promise<string> {
  try {
    await stat(`${folder}/.`);
    return folder;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    return nearestFolder(dirname(folder));
  }
}
