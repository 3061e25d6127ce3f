import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncToDisk } from './durable-file.ts';
import { errorCode } from './error-code.ts';

type Replacing = {
  /** Runs right before the rename. If it throws, nothing has changed. */
  lastCheck?: () => void | Promise<void>;
  /** The permissions, also of the new file before the rename: a secret is never readable by others. */
  mode?: number;
};

/**
 * Replaces a file atomically: readers see the old bytes or the new ones, also after a crash. Keeps owner and mode; a
 * symbolic link stays and its target is replaced. Creates missing folders.
 */
export async function replaceFile(path: string, content: string, { lastCheck, mode }: Replacing = {}): Promise<void> {
  const target = await resolveLinks(path);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  const temporary = join(folder, `.${basename(target)}.${randomUUID()}.tmp`);
  const current = await statIfExists(target);
  const wantedMode = mode ?? (current === null ? undefined : current.mode & 0o7777);
  try {
    const file = await open(temporary, 'wx', wantedMode);
    try {
      // Before the content: others must not read a secret, not even in what a killed process leaves behind.
      await setModeAndOwner(file, current, wantedMode);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await lastCheck?.();
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncToDisk(folder);
}

/** The target of a path, following links; the path itself if it doesn't exist yet. */
export async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return path;
    throw error;
  }
}

async function statIfExists(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The owner of the present file, if there is one, and the mode. */
async function setModeAndOwner(file: FileHandle, current: Stats | null, mode: number | undefined): Promise<void> {
  const made = await file.stat();
  if (current !== null && (made.uid !== current.uid || made.gid !== current.gid)) {
    // Only root may change the owner; others keep the group and the mode.
    await file.chown(current.uid, current.gid).catch((error: unknown) => {
      if (errorCode(error) !== 'EPERM') throw error;
    });
  }
  // The umask may have taken rights from it.
  if (mode !== undefined) await file.chmod(mode);
}
