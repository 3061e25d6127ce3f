import { rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The data directory of an empty database, as PGlite loads it. */
export const EMPTY_DATABASE = join(process.cwd(), '.cache', 'empty-database.tar');

async function modifiedAt(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.mtimeMs;
}

/** Once a run (global-setup.js): making an empty database takes seconds, and dozens of suites begin with one. */
export async function keepEmptyDatabase(): Promise<void> {
  // One of an older release of the library may not load: it is made again whenever what is installed is newer.
  const madeAt = await modifiedAt(EMPTY_DATABASE);
  if (madeAt !== undefined && madeAt > ((await modifiedAt('node_modules/.package-lock.json')) ?? 0)) return;
  // Only here: the suites that read this file for the path have no need of the library.
  const { PGlite } = await import('@electric-sql/pglite');
  const db = await PGlite.create();
  const dump = await db.dumpDataDir('none');
  await db.close();
  const part = `${EMPTY_DATABASE}.${process.pid}`;
  await writeFile(part, Buffer.from(await dump.arrayBuffer()));
  await rename(part, EMPTY_DATABASE);
}
