import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beginDatabase } from '../../embedded/database/new-database.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const home = emptiedFolder();
const dataDir = join(home, 'database');

beforeEach(() => mkdir(dataDir, { mode: 0o700 }));

test('an empty folder becomes a database that only its user can read, without leftovers', async () => {
  await beginDatabase(dataDir);
  expect(await readdir(dataDir)).toEqual(expect.arrayContaining(['PG_VERSION', 'base', 'pg_wal', 'postgresql.conf']));
  expect(await readdir(dataDir)).not.toContain('postmaster.pid');
  expect((await stat(dataDir)).mode & 0o077).toBe(0);
  expect(await readdir(home)).toEqual(['database']);
});

test('an existing database is not changed, and leftovers of a killed start are removed', async () => {
  await writeFile(join(dataDir, 'PG_VERSION'), 'kept');
  await beginDatabase(dataDir);
  expect(await readdir(dataDir)).toEqual(['PG_VERSION']);
  await rm(join(dataDir, 'PG_VERSION'));
  await mkdir(join(home, 'database.part'));
  await writeFile(join(home, 'database.part', 'half'), '');
  await beginDatabase(dataDir);
  expect(await readdir(dataDir)).not.toContain('half');
  expect(await readdir(home)).toEqual(['database']);
});

test('a cache that cannot be written leaves the folder empty for the next start', async () => {
  const file = join(home, 'file');
  await writeFile(file, '');
  await beginDatabase(dataDir, join(file, 'cache'));
  expect(await readdir(dataDir)).toEqual([]);
});
