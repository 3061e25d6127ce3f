import { execFile } from 'node:child_process';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lock } from 'proper-lockfile';

const run = promisify(execFile);

const SOURCES = [
  'base',
  'contract',
  'client',
  'api',
  'workflows',
  'activities',
  'worker',
  'forge',
  'ui',
  'web',
  'exporter',
  'platform',
  'bundle',
  'deployment',
  'cli',
  'programs',
  'proof',
  'embedded',
];

/** The last file that the build writes. */
const LAST_WRITTEN = join('dist', 'workflow-bundles', 'platform.js');

/** A lock that was not renewed for this long belongs to a dead process. A busy machine can delay a renewal. */
const LOCK_STALE_MS = 60_000;

/** Path of the built command, as `npx galley` runs it. Builds first if a source is newer than the build. */
export async function builtGalley(): Promise<string> {
  const root = process.cwd();
  await mkdir(join(root, '.cache'), { recursive: true });
  const release = await lock(join(root, '.cache', 'build'), {
    realpath: false,
    stale: LOCK_STALE_MS,
    retries: { retries: 600, factor: 1, minTimeout: 500, maxTimeout: 500 },
  });
  try {
    if (await isStale(root)) await build(root);
  } finally {
    await release();
  }
  return join(root, 'dist', 'cli', 'main.js');
}

async function build(root: string): Promise<void> {
  try {
    await run('npm', ['run', 'build'], { cwd: root, timeout: 550_000 });
  } catch (error) {
    const output = typeof error === 'object' && error !== null && 'stdout' in error ? error.stdout : '';
    throw new Error(`The tests need the built product, but npm run build failed:\n${output}`);
  }
}

async function isStale(root: string): Promise<boolean> {
  const builtMs = await modifiedMs(join(root, LAST_WRITTEN));
  for (const folder of SOURCES) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.isFile() && (await modifiedMs(join(entry.parentPath, entry.name))) > builtMs) return true;
    }
  }
  return false;
}

/** The modification time, or 0 if the file does not exist. */
async function modifiedMs(path: string): Promise<number> {
  return await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
