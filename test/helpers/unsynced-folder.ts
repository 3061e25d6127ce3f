import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 1024 ** 3;

/**
 * An empty folder for a server that waits for the disk at each write: tests end servers, never the machine, so what
 * was written is there without. In memory where there is room for it, else among the temporary files.
 */
export async function unsyncedFolder(prefix: string): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return await mkdtemp(join(bavail * bsize > ROOM_BYTES ? MEMORY : tmpdir(), prefix));
}
