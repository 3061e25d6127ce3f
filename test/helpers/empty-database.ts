import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

const path = join(process.cwd(), '.cache', 'empty-database.tar');

async function modifiedAt(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.mtimeMs;
}

/** Once a run (global-setup.js): making an empty database takes seconds, and dozens of suites begin with one. */
export async function keepEmptyDatabase(): Promise<void> {
  // One of an older release of the library may not load: it is made again whenever what is installed is newer.
  const madeAt = await modifiedAt(path);
  if (madeAt !== undefined && madeAt > ((await modifiedAt('node_modules/.package-lock.json')) ?? 0)) return;
  const db = await PGlite.create();
  const dump = await db.dumpDataDir('none');
  await db.close();
  const part = `${path}.${process.pid}`;
  await writeFile(part, Buffer.from(await dump.arrayBuffer()));
  await rename(part, path);
}

/** A new embedded PostgreSQL in memory from the kept one. */
export async function createEmptyDatabase(): Promise<PGlite> {
  return PGlite.create({ loadDataDir: new Blob([await readFile(path)]) });
}
