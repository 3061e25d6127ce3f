import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../base/durable-file.ts';
import { errorCode } from '../../base/error-code.ts';
import { readIfThere } from '../../exporter/read-if-there.ts';

const SIZE_BYTES = 32;

/**
 * The key that signs a folder's links. It is created atomically by the first process and never changes: links outlive
 * restarts and any process on the folder can check them.
 */
export async function readSigningKey(folder: string): Promise<Buffer> {
  const path = join(folder, '.signing-key');
  const existing = await readIfThere(path);
  if (existing !== undefined) return checked(existing, path);
  const draft = join(folder, '.tmp', randomUUID());
  await writeDurably(draft, randomBytes(SIZE_BYTES), 0o600);
  try {
    // Unlike rename, link fails if another process has created the key meanwhile.
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
