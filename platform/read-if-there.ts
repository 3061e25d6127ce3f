import { readFile } from 'node:fs/promises';
import { errorCode } from './error-code.ts';

/** A file's bytes; undefined where there is no such file. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
