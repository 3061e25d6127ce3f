import { readFile } from 'node:fs/promises';

/**
 * The user `nobody`, for programs that refuse to run as root. `undefined` if the current user isn't root.
 */
export async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((each) => each.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  if (uid === undefined || gid === undefined)
    throw new Error('The user nobody, which runs the servers of the tests, does not exist');
  return { uid: Number(uid), gid: Number(gid) };
}
