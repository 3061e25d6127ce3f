import { readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { pino } from 'pino';

/** Data directories as PGlite loads them: of a database without anything, and of one with the platform's tables. */
export const KEPT_DATABASES = {
  empty: join(process.cwd(), '.cache', 'empty-database.tar'),
  migrated: join(process.cwd(), '.cache', 'migrated-database.tar'),
} as const;

const MIGRATIONS = 'platform/store/migrations';

async function modifiedAt(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
}

/** Of the library that has to load what is kept, and of all migrations; a folder's own time tells of what was removed. */
async function ingredientsModifiedAt(): Promise<number> {
  const migrations = await readdir(MIGRATIONS, { recursive: true });
  const files = ['node_modules/.package-lock.json', MIGRATIONS, ...migrations.map((name) => join(MIGRATIONS, name))];
  return Math.max(...(await Promise.all(files.map(modifiedAt))));
}

/**
 * Once a run (global-setup.js): making an empty database takes seconds and the migrations take more than one, and dozens
 * of suites begin with them.
 */
export async function keepDatabases(): Promise<void> {
  const madeAt = Math.min(...(await Promise.all(Object.values(KEPT_DATABASES).map(modifiedAt))));
  if (madeAt > (await ingredientsModifiedAt())) return;
  // Only here: the suites that read this file for the paths have no need of the library.
  const { PGlite } = await import('@electric-sql/pglite');
  const db = await PGlite.create();
  await keep(db, KEPT_DATABASES.empty);
  await migrate(db);
  await keep(db, KEPT_DATABASES.migrated);
  await db.close();
}

async function migrate(db: PGlite): Promise<void> {
  const { PGLiteSocketServer } = await import('@electric-sql/pglite-socket');
  const { openDatabase } = await import('../../platform/store/database.ts');
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0 });
  await server.start();
  const url = `postgres://postgres:postgres@${server.getServerConn()}/postgres`;
  const migrated = await openDatabase({ url, maxConnections: 1, logger: pino({ level: 'silent' }) });
  await migrated.close();
  await server.stop();
}

/** Never half a file: the tests of another run may be reading the one before. */
async function keep(db: PGlite, file: string): Promise<void> {
  const dump = await db.dumpDataDir('none');
  const part = `${file}.${process.pid}`;
  await writeFile(part, Buffer.from(await dump.arrayBuffer()));
  await rename(part, file);
}
