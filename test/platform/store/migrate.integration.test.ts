import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { ConfigurationError } from '../../../contract/configuration-error.ts';
import { startEmbeddedDatabase } from '../../../embedded/database/embedded-database.ts';
import { connectDatabase, type Database } from '../../../platform/store/database.ts';
import { migrateDatabase } from '../../../platform/store/migrate.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';

/** Shorter than any statement that a migration waits for in these tests. */
const QUERY_TIMEOUT_MS = 1_000;

const TABLE = 'CREATE TABLE "pages" ("id" integer PRIMARY KEY, "path" text NOT NULL);';
const INDEX = 'CREATE UNIQUE INDEX CONCURRENTLY "pages_by_path" ON "pages" USING btree ("path");';

let folder: string;
let server: TestDatabase;
const opened: Database[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-migrations-'));
  server = await createDatabase({ empty: true });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.close()));
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A separate connection pool, as another process would have. */
function connect(target: { url: string; maxConnections?: number } = server, queryTimeoutMs?: number): Database {
  const logger = pino({ level: 'silent' });
  const db = connectDatabase({ ...target, logger, ...(queryTimeoutMs && { queryTimeoutMs }) });
  opened.push(db);
  return db;
}

/** Writes a migrations folder in the format of drizzle-kit. */
async function writeMigrations(...migrations: string[]): Promise<void> {
  const entries = migrations.map((_, idx) => ({
    idx,
    version: '7',
    when: idx + 1,
    tag: `000${idx}`,
    breakpoints: true,
  }));
  await mkdir(join(folder, 'meta'), { recursive: true });
  await writeFile(join(folder, 'meta', '_journal.json'), JSON.stringify({ version: '7', entries }));
  for (const [index, text] of migrations.entries()) await writeFile(join(folder, `000${index}.sql`), text);
}

async function rows(db: Database, query: string): Promise<unknown[]> {
  return (await db.pool.query(query)).rows;
}

const APPLIED = 'select created_at::int as at from drizzle.__drizzle_migrations order by created_at';
const INDEXES = `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relname like 'pages_by%'`;

describe('migrations', () => {
  test("may exceed the query timeout and the server's statement timeout", async () => {
    await writeMigrations(`${TABLE}--> statement-breakpoint\nselect pg_sleep(3);`);
    const name = new URL(server.url).pathname.slice(1);
    await connect().pool.query(`alter database ${name} set statement_timeout = ${QUERY_TIMEOUT_MS}`);
    const db = connect(server, QUERY_TIMEOUT_MS);
    await migrateDatabase(db, { folder });
    expect(await rows(db, APPLIED)).toEqual([{ at: 1 }]);
    await expect(rows(db, 'select pg_sleep(3)')).rejects.toThrow(/timeout/);
  });

  test('are each applied atomically, and resume after a failure', async () => {
    await writeMigrations(TABLE, 'CREATE TABLE "words" ("id" integer);--> statement-breakpoint\nselect 1 / 0;');
    const db = connect();
    await expect(migrateDatabase(db, { folder })).rejects.toThrow(/division by zero/);
    expect(await rows(db, APPLIED)).toEqual([{ at: 1 }]);
    await writeMigrations(TABLE, 'CREATE TABLE "words" ("id" integer);');
    await migrateDatabase(db, { folder });
    expect(await rows(db, APPLIED)).toEqual([{ at: 1 }, { at: 2 }]);
  });

  test('are applied once by two concurrent processes, also while an index is built concurrently', async () => {
    await writeMigrations(TABLE, INDEX);
    // The index build waits for this older transaction, and the second process waits for the first one.
    const writer = new pg.Client({ connectionString: server.url });
    writer.on('error', () => undefined);
    await writer.connect();
    await writer.query('begin isolation level repeatable read');
    await writer.query('select 1');
    const first = migrateDatabase(connect(), { folder });
    const watcher = connect();
    await waitFor(async () => (await rows(watcher, INDEXES)).length === 1, { describe: 'began the index' });
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const second = migrateDatabase(connect(), { folder, logger });
    await waitFor(() => lines.some((line) => line.includes('Another process migrates')), { describe: 'waited' });
    await writer.end();
    await Promise.all([first, second]);
    expect(await rows(watcher, APPLIED)).toEqual([{ at: 1 }, { at: 2 }]);
    expect(await rows(watcher, INDEXES)).toEqual([{ name: 'pages_by_path', valid: true }]);
  });

  test('end when the process stops, and leave the connection pool usable', async () => {
    await writeMigrations(TABLE, 'select pg_sleep(600);');
    const db = connect();
    const stop = new AbortController();
    const migrating = migrateDatabase(db, { folder, signal: stop.signal });
    const sleeping = "select 1 from pg_stat_activity where query like 'select pg_sleep(600)%'";
    await waitFor(async () => (await rows(db, sleeping)).length === 1, { describe: 'was busy' });
    const rejection = expect(migrating).rejects.toThrow();
    stop.abort();
    await rejection;
    expect(await rows(db, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(db.pool.idleCount).toBe(db.pool.totalCount);
  });
});

describe('a database with another first migration', () => {
  test('is refused unchanged, with instructions', async () => {
    await writeMigrations('CREATE TABLE "pages" ("id" integer);', 'CREATE TABLE "words" ("id" integer);');
    const db = connect();
    await migrateDatabase(db, { folder });
    const state =
      "select schemaname, tablename, (select json_agg(m) from drizzle.__drizzle_migrations m) as applied from pg_tables where schemaname in ('public', 'drizzle') order by 1, 2";
    const before = await rows(db, state);
    await writeMigrations(TABLE, 'CREATE TABLE "words" ("id" integer);', 'CREATE TABLE "more" ("id" integer);');
    const refusal = migrateDatabase(db, { folder });
    await expect(refusal).rejects.toBeInstanceOf(ConfigurationError);
    await expect(refusal).rejects.toThrow(/one of another build.*name an empty one.*nothing was changed/);
    expect(await rows(db, state)).toEqual(before);
  });

  test('is not one that a later build has migrated further', async () => {
    await writeMigrations(TABLE, 'CREATE TABLE "words" ("id" integer);');
    const db = connect();
    await migrateDatabase(db, { folder });
    await writeMigrations(TABLE);
    await migrateDatabase(db, { folder });
    expect(await rows(db, APPLIED)).toEqual([{ at: 1 }, { at: 2 }]);
  });
});

describe('an index that is created concurrently', () => {
  test('is rebuilt if an earlier build was interrupted', async () => {
    await writeMigrations(TABLE);
    const db = connect();
    await migrateDatabase(db, { folder });
    await rows(db, "insert into pages values (1, '/'), (2, '/')");
    await writeMigrations(TABLE, INDEX);
    await expect(migrateDatabase(db, { folder })).rejects.toThrow(/duplicate|could not create unique index/);
    expect(await rows(db, INDEXES)).toEqual([{ name: 'pages_by_path', valid: false }]);
    await rows(db, 'delete from pages where id = 2');
    await migrateDatabase(db, { folder });
    expect(await rows(db, INDEXES)).toEqual([{ name: 'pages_by_path', valid: true }]);
    expect(await rows(db, APPLIED)).toEqual([{ at: 1 }, { at: 2 }]);
  });

  test('needs a separate migration', async () => {
    await writeMigrations(`${TABLE}--> statement-breakpoint\n${INDEX}`);
    await expect(migrateDatabase(connect(), { folder })).rejects.toThrow(/CONCURRENTLY.*migration of its own/);
  });

  test('is also created on the embedded database', async () => {
    const home = await mkdtemp(join(tmpdir(), 'galley-home-'));
    const embedded = await startEmbeddedDatabase(home);
    try {
      await writeMigrations(TABLE, INDEX);
      const db = connect(embedded);
      await Promise.all([migrateDatabase(db, { folder }), migrateDatabase(db, { folder })]);
      expect(await rows(db, APPLIED)).toEqual([{ at: 1 }, { at: 2 }]);
      expect(await rows(db, INDEXES)).toEqual([{ name: 'pages_by_path', valid: true }]);
    } finally {
      await Promise.all(opened.splice(0).map((db) => db.close()));
      await embedded.stop();
      await rm(home, { recursive: true, force: true });
    }
  });
});
