import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lock } from 'proper-lockfile';
import { z } from 'zod';

/** Who holds a folder. `processStart` tells a process from a later one with the same id, where the system says it. */
const owner = z.object({ pid: z.int().positive(), processStart: z.string().nullable(), since: z.string() });
type Owner = z.infer<typeof owner>;

/** Thrown when another living process holds the folder; the message is for the person who starts the program. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** Only the short step of taking the lock is under this second one; a process that died there blocks for this long. */
const TAKING_STALE_MS = 5_000;

/**
 * Takes `lockFile` for this process, also from a process that died; resolves with the function that gives it back.
 * @throws FolderInUse naming the process that holds it.
 */
export async function lockFolder(lockFile: string, folder: string): Promise<() => Promise<void>> {
  await mkdir(dirname(lockFile), { recursive: true });
  const done = await lock(lockFile, {
    realpath: false,
    lockfilePath: `${lockFile}.taking`,
    stale: TAKING_STALE_MS,
    retries: { retries: 100, factor: 1, minTimeout: 100, maxTimeout: 100 },
  });
  try {
    const holder = await readOwner(lockFile);
    if (holder && (await isAlive(holder)))
      throw new FolderInUse(
        `${folder} is in use by process ${holder.pid} since ${holder.since}: stop that one first, ` +
          'or set GALLEY_HOME to another folder.',
      );
    const self: Owner = {
      pid: process.pid,
      processStart: await processStart(process.pid),
      since: new Date().toISOString(),
    };
    await writeFile(lockFile, `${JSON.stringify(self)}\n`, { mode: 0o600 });
  } finally {
    await done();
  }
  return async () => {
    await rm(lockFile, { force: true });
  };
}

/** The living process that holds `lockFile`; undefined where there is none. */
export async function lockHolder(lockFile: string): Promise<number | undefined> {
  const holder = await readOwner(lockFile);
  return holder && (await isAlive(holder)) ? holder.pid : undefined;
}

/** A file cut off by a crash counts as nobody's: it is written under the second lock, so no one is writing it now. */
async function readOwner(lockFile: string): Promise<Owner | undefined> {
  try {
    return owner.parse(JSON.parse(await readFile(lockFile, 'utf8')));
  } catch {
    return undefined;
  }
}

async function isAlive(holder: Owner): Promise<boolean> {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it is there and belongs to another user.
    if (!(typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPERM')) return false;
  }
  const start = await processStart(holder.pid);
  return start === null || holder.processStart === null || start === holder.processStart;
}

/** Clock ticks from boot to the process's start (Linux, proc(5), field 22 of stat); null where the system has no /proc. */
async function processStart(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold spaces: count from behind it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
