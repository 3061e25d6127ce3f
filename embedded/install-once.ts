import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lock } from 'proper-lockfile';
import type { Report } from './run-tool.ts';

interface Installation {
  /** The file or folder that only exists once it is complete. */
  target: string;
  report: Report;
  /** Creates the product under `folder` (empty, on the same disk) and returns its path there. */
  install(folder: string): Promise<string>;
}

/** A lock that wasn't renewed for this long belongs to a dead process. */
const LOCK_STALE_MS = 15_000;

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Installs `target` once for all processes of the user: others wait for the one at work, and a crash leaves nothing
 * that looks complete. Resolves with `target`.
 */
export async function installOnce({ target, report, install }: Installation): Promise<string> {
  if (await exists(target)) return target;
  await mkdir(dirname(target), { recursive: true });
  const release = await waitForLock(target, report);
  try {
    if (await exists(target)) return target;
    const folder = await mkdtemp(join(dirname(target), '.installing-'));
    try {
      await rename(await install(folder), target);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return target;
  } finally {
    await release();
  }
}

/** If a machine slept past the lock's expiry, the final rename is still atomic, so two installers do no harm. */
function onCompromised(): void {}

async function waitForLock(target: string, report: Report): Promise<() => Promise<void>> {
  const options = { realpath: false, stale: LOCK_STALE_MS, update: LOCK_STALE_MS / 5, onCompromised };
  const first = await lock(target, options).catch(() => undefined);
  if (first) return first;
  report(`  another process is installing ${target}: waiting for it`);
  // The longest step behind this lock is a build of several minutes.
  return await lock(target, { ...options, retries: { retries: 900, factor: 1, minTimeout: 1_000, maxTimeout: 1_000 } });
}
