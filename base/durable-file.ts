import { open, writeFile } from 'node:fs/promises';
import { errorCode } from './error-code.ts';

type Content = string | Uint8Array | AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** Writes a new file that survives a power failure. `wx` never follows links or overwrites existing files. */
export async function writeDurably(path: string, content: Content, mode = 0o644): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await writeFile(file, content);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Makes a file's content or a folder's entries (new files, renames) durable. Not every file system can sync a folder. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!['EINVAL', 'EPERM', 'ENOTSUP'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}
