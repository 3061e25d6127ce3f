import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../error-code.ts';
import { readIfThere } from '../read-if-there.ts';

const SIZE_BYTES = 32;

/**
 * The key that a folder's links are signed with. It is made once, whole or not at all, whichever process comes first,
 * and stays: links outlive restarts and are checked by any process on the folder.
 */
export async function readSigningKey(folder: string): Promise<Buffer> {
  const path = join(folder, '.signing-key');
  const existing = await readIfThere(path);
  if (existing !== undefined) return checked(existing, path);
  const draft = join(folder, '.tmp', randomUUID());
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(randomBytes(SIZE_BYTES));
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    // Unlike rename, link refuses to replace a key that another process has put there meanwhile.
    await link(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return checked(await readFile(path), path);
}

function checked(key: Buffer, path: string): Buffer {
  if (key.length !== SIZE_BYTES) throw new Error(`${path} is damaged: expected ${SIZE_BYTES} bytes`);
  return key;
}
