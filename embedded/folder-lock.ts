import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { z } from 'zod';
import { errorCode } from '../base/error-code.ts';

/** The lock file's text about its holder, for people: only the operating system's lock counts. */
const owner = z.object({ pid: z.int().positive(), host: z.string(), since: z.string() });
type Owner = z.infer<typeof owner>;

/** Thrown if another living process holds the folder; the message is for the user. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** A process that was killed a moment ago may still hold its lock, so that an immediate restart must wait briefly. */
const DYING_MS = 3_000;
const LOOK_AGAIN_MS = 100;

/**
 * Locks `lockFile` until the returned function is called or this process ends. The operating system holds the lock, so
 * it also excludes processes of other containers that share the folder, where process ids differ. The file is never
 * deleted: otherwise two processes could lock two files of the same name.
 * @throws FolderInUse naming the process that holds it; Error if the file system has no locks.
 */
export async function lockFolder(lockFile: string, folder: string): Promise<() => Promise<void>> {
  await mkdir(dirname(lockFile), { recursive: true });
  // A plain descriptor: a FileHandle that is garbage-collected closes its file and loses the lock.
  const fd = openSync(lockFile, 'a+', 0o600);
  try {
    await takeLock(fd, lockFile, folder);
    const self: Owner = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
    ftruncateSync(fd);
    writeSync(fd, `${JSON.stringify(self)}\n`);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return async () => {
    ftruncateSync(fd);
    closeSync(fd);
  };
}

/** Whether a living process, in this container or another, holds `lockFile`. */
export async function isFolderLocked(lockFile: string): Promise<boolean> {
  let fd: number;
  try {
    fd = openSync(lockFile, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
  try {
    return !tryLock(fd, { shared: true });
  } finally {
    closeSync(fd);
  }
}

async function takeLock(fd: number, lockFile: string, folder: string): Promise<void> {
  const deadline = Date.now() + DYING_MS;
  while (!lockNow(fd, folder)) {
    if (Date.now() > deadline)
      throw new FolderInUse(
        `${folder} is in use by ${await holderOf(lockFile)}: stop that one first, or set GALLEY_HOME to another folder.`,
      );
    await sleep(LOOK_AGAIN_MS);
  }
}

function lockNow(fd: number, folder: string): boolean {
  try {
    return tryLock(fd);
  } catch (error) {
    throw new Error(
      `${folder} can't be locked (${errorCode(error) ?? error}): two processes that use it at once would destroy its ` +
        'data. Set GALLEY_HOME to a folder on a file system with file locks, such as a local disk.',
    );
  }
}

async function holderOf(lockFile: string): Promise<string> {
  try {
    const { pid, host, since } = owner.parse(JSON.parse(await readFile(lockFile, 'utf8')));
    return `process ${pid}${host === hostname() ? '' : ` on ${host}`} since ${since}`;
  } catch {
    // The holder is writing its name, or this is Windows, which doesn't let others read locked files.
    return 'another process';
  }
}
