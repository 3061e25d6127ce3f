import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lock } from 'proper-lockfile';
import { errorCode } from '../../base/error-code.ts';
import { resolveLinks } from '../../base/replace-file.ts';

/** A lock that wasn't refreshed for this long belongs to a killed process. */
const STALE_MS = 5_000;

/** Lasts about 6 s in total: longer than a dead holder's lock lasts, shorter than an activity's attempt. */
const RETRIES = { retries: 22, factor: 1.2, minTimeout: 50, maxTimeout: 400 };

/**
 * Runs `work` while holding `<file>.lock`. Several worker processes can write one file (a killed one's activity may run
 * again elsewhere), so a lock within the process isn't enough. The lock is a folder, because creating one is atomic on
 * network file systems too.
 * @param work gets a check that throws once the lock was lost; call it right before each change.
 */
export async function withFileLock<T>(file: string, work: (stillHeld: () => void) => Promise<T>): Promise<T> {
  const target = await resolveLinks(file);
  await mkdir(dirname(target), { recursive: true });
  let lost: Error | undefined;
  const release = await lock(target, {
    realpath: false,
    stale: STALE_MS,
    update: 1_000,
    retries: RETRIES,
    // The default handler throws from a timer, which would end the worker.
    onCompromised: (error) => {
      lost = error;
    },
  }).catch((error: unknown) => {
    throw errorCode(error) === 'ELOCKED' ? new Error(`another process keeps holding the lock ${target}.lock`) : error;
  });
  try {
    return await work(() => {
      if (lost) throw new Error(`the lock on ${file} was lost: ${lost.message}`);
    });
  } finally {
    if (!lost) await release();
  }
}
