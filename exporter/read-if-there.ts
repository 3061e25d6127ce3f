import { readFile } from 'node:fs/promises';
import { errorCode } from '../base/error-code.ts';

/** A file's bytes; undefined if it doesn't exist. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
