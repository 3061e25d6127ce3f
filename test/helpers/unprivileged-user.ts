import { chown, mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** For programs that refuse to run as root. */
type User = { uid: number; gid: number };

/** The user `nobody`; `undefined` if the current user isn't root. */
export async function unprivileged(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((each) => each.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  if (uid === undefined || gid === undefined)
    throw new Error('The user nobody, which runs the servers of the tests, does not exist');
  return { uid: Number(uid), gid: Number(gid) };
}

/** A new temporary folder of that user. It is below /tmp if TMPDIR is one that only the current user can enter. */
export async function temporaryFolderOf(owner: User | undefined, prefix: string): Promise<string> {
  const parent = owner === undefined || (await isOpenToAll(tmpdir())) ? tmpdir() : '/tmp';
  const folder = await mkdtemp(join(parent, prefix));
  if (owner) await chown(folder, owner.uid, owner.gid);
  return folder;
}

async function isOpenToAll(folder: string): Promise<boolean> {
  const canEnter = ((await stat(folder)).mode & 0o001) !== 0;
  return canEnter && (folder === dirname(folder) || (await isOpenToAll(dirname(folder))));
}
