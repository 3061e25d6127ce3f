import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Linux's in-memory file system. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 1024 ** 3;

/**
 * An empty folder for a server that syncs each write to the disk. Tests kill servers but never the machine, so an
 * in-memory folder suffices. If memory is short, it is a temporary folder.
 */
export async function unsyncedFolder(prefix: string): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return await mkdtemp(join(bavail * bsize > ROOM_BYTES ? MEMORY : tmpdir(), prefix));
}
