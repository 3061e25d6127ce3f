import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lock } from 'proper-lockfile';
import { hasCode } from './error-code.ts';
import { resolveLinks } from './replace-file.ts';

/** A holder that was killed is believed dead after this long without a sign of life. */
const STALE_MS = 5_000;

/** Together about 6 s: longer than a dead holder's lock lasts, and shorter than an activity's attempt. */
const RETRIES = { retries: 22, factor: 1.2, minTimeout: 50, maxTimeout: 400 };

/**
 * Runs `work` while holding `<file>.lock`. Workers are several processes on one host (and a killed one's activity may
 * run once more elsewhere), so a lock within the process isn't enough; a folder is made as the lock, because that is
 * atomic on network file systems too.
 * @param work gets a check that throws once the lock was lost, to be called right before each change.
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
    // The default throws where nobody can catch it, which would end the worker.
    onCompromised: (error) => {
      lost = error;
    },
  }).catch((error: unknown) => {
    throw hasCode(error, 'ELOCKED') ? new Error(`another process keeps holding the lock ${target}.lock`) : error;
  });
  try {
    return await work(() => {
      if (lost) throw new Error(`the lock on ${file} was lost: ${lost.message}`);
    });
  } finally {
    if (!lost) await release();
  }
}
