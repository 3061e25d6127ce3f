import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { syncToDisk } from '../../base/durable-file.ts';
import { cacheFolder } from '../cache-folder.ts';
import { installOnce } from '../install-once.ts';

/**
 * Puts an empty database into an empty `dataDir`. PostgreSQL takes many seconds of processor time to create its own
 * tables, which are always the same: they are created once per user and copied. If that fails, the folder stays empty,
 * and opening it creates them.
 */
export async function beginDatabase(dataDir: string, cache = cacheFolder()): Promise<void> {
  if ((await readdir(dataDir)).length > 0) return;
  const part = `${dataDir}.part`;
  try {
    const target = join(cache, `database-${await libraryVersion()}`);
    await installOnce({ target, report: () => {}, install: makeDatabase });
    await rm(part, { recursive: true, force: true });
    await cp(target, part, { recursive: true });
    await syncFiles(part);
    await rename(part, dataDir);
  } catch {
    await rm(part, { recursive: true, force: true });
  }
}

async function makeDatabase(folder: string): Promise<string> {
  const dataDir = join(folder, 'database');
  await mkdir(dataDir, { mode: 0o700 });
  // The build rewrites imports but not this, so the thread's extension is this file's.
  const file = new URL(`./make-database${extname(import.meta.url)}`, import.meta.url);
  await once(new Worker(file, { workerData: dataDir }), 'exit');
  await syncFiles(dataDir);
  return dataDir;
}

/** A power loss must not leave a half-written database: PostgreSQL later syncs only the files that it changes. */
async function syncFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await syncToDisk(join(entry.parentPath, entry.name));
  }
}

/** Another release of the library may store its tables differently. */
async function libraryVersion(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const text = await readFile(join(dirname(main), '..', 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
