import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import pg from 'pg';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../embedded/database/embedded-database.ts';
import { beginDatabase } from '../../embedded/database/new-database.ts';
import { openSyncedDatabase } from '../../embedded/database/synced-database.ts';
import { isFolderLocked } from '../../embedded/folder-lock.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

let home: string;
const open: EmbeddedDatabase[] = [];

async function start(): Promise<EmbeddedDatabase> {
  const database = await startEmbeddedDatabase(home);
  open.push(database);
  return database;
}

async function withPool<T>(database: EmbeddedDatabase, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: database.url, max: database.maxConnections });
  try {
    return await use(pool);
  } finally {
    await pool.end();
  }
}

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'galley-home-'));
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.stop()));
  await rm(home, { recursive: true, force: true });
});

describe('the embedded database', () => {
  test('keeps its data across a restart', async () => {
    const first = await start();
    await withPool(first, async (pool) => {
      await pool.query('create table kept (n int)');
      await pool.query('insert into kept values ($1)', [7]);
    });
    await first.stop();
    const { rows } = await withPool(await start(), (pool) => pool.query('select n from kept'));
    expect(rows).toEqual([{ n: 7 }]);
  });

  test('is copied as of one moment while it works', async () => {
    const database = await start();
    const copy = join(home, 'copy');
    const written = await withPool(database, async (pool) => {
      await pool.query('create table kept (n int)');
      const write = async (n: number) => pool.query('insert into kept values ($1)', [n]);
      for (let n = 0; n < 50; n += 1) await write(n);
      const [, ...more] = await Promise.all([database.copyTo(join(copy, 'database')), write(50), write(51)]);
      return 50 + more.length;
    });
    await database.stop();
    const copied = await startEmbeddedDatabase(copy);
    open.push(copied);
    const { rows } = await withPool(copied, (pool) => pool.query('select n from kept order by n'));
    const numbers = rows.map(({ n }) => n);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => n));
    expect(numbers.length).toBeGreaterThanOrEqual(50);
    expect(numbers.length).toBeLessThanOrEqual(written);
  });

  test('runs many concurrent queries, each with its own result', async () => {
    await withPool(await start(), async (pool) => {
      const numbers = Array.from({ length: 200 }, (_, n) => n);
      const results = await Promise.all(
        numbers.map(async (n) => (await pool.query<{ n: number }>('select $1::int as n', [n])).rows[0]?.n),
      );
      expect(results).toEqual(numbers);
    });
  });

  test('rolls back the transaction of a broken connection, and serves the next one', async () => {
    const database = await start();
    await withPool(database, (pool) => pool.query('create table kept (n int)'));
    const broken = new pg.Client({ connectionString: database.url });
    broken.on('error', () => {});
    await broken.connect();
    await broken.query('begin');
    await broken.query('insert into kept values (1)');
    await broken.end();
    const { rows } = await withPool(database, (pool) => pool.query('select n from kept'));
    expect(rows).toEqual([]);
  });

  test('writes its write-ahead log to disk before it acknowledges a commit', async () => {
    const { rows } = await withPool(await start(), (pool) =>
      pool.query("select name, setting from pg_settings where name in ('fsync', 'wal_sync_method') order by name"),
    );
    expect(rows).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'wal_sync_method', setting: 'fsync' },
    ]);

    // Runs the database in this thread, so that the test can observe its system calls.
    const dataDir = join(home, 'seen');
    await mkdir(dataDir);
    await beginDatabase(dataDir);
    const synced: string[] = [];
    const { fsyncSync } = fs;
    const spy = jest.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
      synced.push(fs.readlinkSync(`/proc/self/fd/${fd}`));
      fsyncSync(fd);
    });
    try {
      const db = await openSyncedDatabase(dataDir);
      await db.exec('create table kept (n int)');
      synced.length = 0;
      await db.exec('insert into kept values (1)');
      expect(synced).toEqual([expect.stringMatching(/seen\/pg_wal\/\w+$/)]);
      await db.exec('checkpoint');
      expect(synced).toContainEqual(expect.stringMatching(/seen\/base\/\d+\/\d+$/));
      await db.close();
    } finally {
      spy.mockRestore();
    }
  });

  test('is opened by only one process, and a second one reports the first', async () => {
    await start();
    await expect(startEmbeddedDatabase(home)).rejects.toThrow(
      new RegExp(`in use by process ${process.pid} .*GALLEY_HOME`),
    );
  });

  test('can be opened after a process was killed, with the data that it had committed', async () => {
    const child = spawn(
      process.execPath,
      ['--import', './scripts/typescript.js', 'test/embedded/database-holder.ts', home],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { rows } = await withPool(await start(), (pool) => pool.query('select n from kept'));
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('is not opened while another container uses it, with other process ids and host names', async () => {
    const isolated = ['--unshare-pid', '--unshare-uts', '--hostname', 'other-container', '--die-with-parent'];
    const child = spawn(
      'bwrap',
      [
        ...['--bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-user', ...isolated],
        ...[process.execPath, '--import', './scripts/typescript.js', 'test/embedded/database-holder.ts', home],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    await expect(startEmbeddedDatabase(home)).rejects.toThrow(
      /in use by process \d+ on other-container since .*GALLEY_HOME/,
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The program in the sandbox ends a moment after the sandbox.
    await waitFor(async () => !(await isFolderLocked(join(home, 'database.lock'))), { describe: 'ended' });
    const { rows } = await withPool(await start(), (pool) => pool.query('select n from kept'));
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('is opened although a crash truncated its lock file', async () => {
    await writeFile(join(home, 'database.lock'), '{"pid": 1');
    const { rows } = await withPool(await start(), (pool) => pool.query('select 1 as n'));
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('reports a folder that is not a database', async () => {
    await writeFile(join(home, 'database'), 'a file');
    await expect(startEmbeddedDatabase(home)).rejects.toThrow(/database/);
    await rm(join(home, 'database'));
    await start();
  });
});
