import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lock } from 'proper-lockfile';

const run = promisify(execFile);

/** A lock that was not renewed for this long belongs to a dead process. A busy machine can delay a renewal. */
const LOCK_STALE_MS = 60_000;

/** Path of the built command, as `npx galley` runs it. Builds first if the sources have changed since. */
export async function builtGalley(): Promise<string> {
  const root = process.cwd();
  await mkdir(join(root, '.cache'), { recursive: true });
  const release = await lock(join(root, '.cache', 'build'), {
    realpath: false,
    stale: LOCK_STALE_MS,
    retries: { retries: 600, factor: 1, minTimeout: 500, maxTimeout: 500 },
  });
  try {
    await run(process.execPath, ['scripts/build.js'], { cwd: root, timeout: 550_000 });
  } catch (error) {
    const output = typeof error === 'object' && error !== null && 'stdout' in error ? error.stdout : '';
    throw new Error(`The tests need the built product, but npm run build failed:\n${output}`);
  } finally {
    await release();
  }
  return join(root, 'dist', 'cli', 'main.js');
}
