import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** A process that was killed a moment ago is still being put away: whoever restarts it at once shall not be refused. */
const DYING_MS = 3_000;
const LOOK_AGAIN_MS = 100;

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
    if (holder && !(await endsSoon(holder)))
      throw new FolderInUse(
        `${folder} is in use by process ${holder.pid} since ${holder.since}: stop that one first, ` +
          'or set GALLEY_HOME to another folder.',
      );
    const self: Owner = {
      pid: process.pid,
      processStart: (await processStat(process.pid)).start,
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

async function endsSoon(holder: Owner): Promise<boolean> {
  const deadline = Date.now() + DYING_MS;
  while (await isAlive(holder)) {
    if (Date.now() > deadline) return false;
    await sleep(LOOK_AGAIN_MS);
  }
  return true;
}

async function isAlive(holder: Owner): Promise<boolean> {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it is there and belongs to another user.
    if (!(typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPERM')) return false;
  }
  const { start, ended } = await processStat(holder.pid);
  if (ended) return false;
  return start === null || holder.processStart === null || start === holder.processStart;
}

/**
 * Of a process its start, in clock ticks from boot, and whether it has ended and only waits to be collected (Linux,
 * proc(5), fields 22 and 3 of stat). Nothing is known where the system has no /proc.
 */
async function processStat(pid: number): Promise<{ start: string | null; ended: boolean }> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold spaces: count from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { start: fields[19] ?? null, ended: ['Z', 'X'].includes(fields[0] ?? '') };
  } catch {
    return { start: null, ended: false };
  }
}
