import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { connectDatabase, type Database } from '../../../platform/store/database.ts';
import { migrateDatabase } from '../../../platform/store/migrate.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';

/** The migrations from before they were squashed into one. Version 0.1 had the first nine. */
const UNSQUASHED = 'test/platform/store/unsquashed-migrations';

const ROWS = [
  `insert into organizations (id, name, plan) values ('org_1', 'Analytical Engines', 'enterprise')`,
  `insert into api_keys (id, organization_id, prefix, sha256) values ('key_1', 'org_1', 'galley_ab', 'f00')`,
  `insert into projects (id, organization_id, domain, settings)
     values ('prj_1', 'org_1', 'docs.example.com', '{"robots": "ignore"}')`,
  `insert into export_jobs (id, organization_id, project_id, domain, version, status)
     values ('se_1', 'org_1', 'prj_1', 'docs.example.com', '2026-11-21.1', 'completed')`,
  `insert into crawls (job_id, settings_json, phase, url_count) values ('se_1', '{}', 'frozen', 7)`,
  `insert into crawl_urls (job_id, url, rank, depth, state) values ('se_1', 'https://docs.example.com/', 1, 0, 'settled')`,
  `insert into agent_jobs (id, organization_id, project_id, repository, model, branch)
     values ('job_1', 'org_1', 'prj_1', 'file:///r.git', 'example', 'galley/1')`,
  `insert into agent_runs (job_id, run, prompt_json) values ('job_1', 1, '"Replace"')`,
  `insert into pull_requests
     (id, project_id, repository, number, author, title, body, head_branch, head_sha, base_branch, base_sha)
     values ('pr_1', 'prj_1', 'file:///r.git', 1, 'agent', 'Title', 'Body', 'galley/1', 'a1', 'main', 'b2')`,
  `insert into idempotency_keys values ('org_1', 'k', 'f00', 201, '{}', now())`,
];

/** Sorted by name, because later migrations append their columns. */
const SCHEMA = `
  select table_name as in, column_name as name, data_type || ' ' || is_nullable || coalesce(column_default, '') as what
    from information_schema.columns where table_schema = 'public'
  union all select tablename, indexname, indexdef from pg_indexes where schemaname = 'public'
  union all select conrelid::regclass::text, conname, pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'public'::regnamespace
  order by 1, 2, 3`;

let folder: string;
let server: TestDatabase;
let db: Database;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-migrations-'));
  await cp(UNSQUASHED, folder, { recursive: true });
  server = await createDatabase({ empty: true });
  db = connectDatabase({ ...server, logger: pino({ level: 'silent' }) });
});
afterEach(async () => {
  await db.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Creates the database of a version that had the first `count` old migrations, with rows. */
async function oldDatabase(count: number): Promise<void> {
  const journal = join(folder, 'meta', '_journal.json');
  const { entries, ...rest } = JSON.parse(await readFile(journal, 'utf8'));
  await writeFile(journal, JSON.stringify({ ...rest, entries: entries.slice(0, count) }));
  await migrateDatabase(db, { folder });
  for (const statement of ROWS) await db.pool.query(statement);
}

async function select(pool: Pool, query: string): Promise<unknown[]> {
  return (await pool.query(query)).rows;
}

async function allRows(): Promise<Record<string, unknown[]>> {
  const { rows } = await db.pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'drizzle')`,
  );
  const found = rows.map(async ({ name }) => {
    const { rows: all } = await db.pool.query<{ row: unknown }>(`select to_jsonb(t) as row from ${name} t`);
    return [name, all.map(({ row }) => row)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

async function freshSchema(): Promise<unknown[]> {
  const fresh = await createDatabase();
  const connected = connectDatabase({ ...fresh, logger: pino({ level: 'silent' }) });
  try {
    return await select(connected.pool, SCHEMA);
  } finally {
    await connected.close();
    await fresh.stop();
  }
}

/** The number of migrations after the squashed one. */
const NEWER_MIGRATIONS = 2;

describe('a database from before the migrations were squashed', () => {
  it.each([
    ['of version 0.1', 9],
    ['of a development version after 0.1', 10],
  ])('%s is upgraded once and keeps its rows', async (_, count) => {
    await oldDatabase(count);
    const { 'drizzle.__drizzle_migrations': applied, ...before } = await allRows();
    expect(applied).toHaveLength(count);
    await Promise.all([migrateDatabase(db), migrateDatabase(db)]);
    const { 'drizzle.__drizzle_migrations': appliedNow, ...after } = await allRows();
    expect(appliedNow).toHaveLength(count + 1 + NEWER_MIGRATIONS);
    expect(after).toMatchObject(before);
    expect(after['public.crawls']).toEqual([expect.objectContaining({ file_count: 0, url_count: 7 })]);
    expect(await select(db.pool, SCHEMA)).toEqual(await freshSchema());
  });

  it('with all old migrations keeps its rows and gets only the newer migrations', async () => {
    await oldDatabase(11);
    const { 'drizzle.__drizzle_migrations': applied = [], ...before } = await allRows();
    await migrateDatabase(db);
    const { 'drizzle.__drizzle_migrations': appliedNow, ...after } = await allRows();
    expect(appliedNow?.slice(0, 11)).toEqual(applied);
    expect(appliedNow).toHaveLength(11 + NEWER_MIGRATIONS);
    expect(after).toMatchObject(before);
    expect(await select(db.pool, SCHEMA)).toEqual(await freshSchema());
  });

  it('of a version before 0.1 is rejected unchanged, with instructions', async () => {
    await oldDatabase(8);
    const before = await allRows();
    await expect(migrateDatabase(db)).rejects.toThrow(/before 0\.1.*Nothing was changed\. Start version 0\.1/);
    expect(await allRows()).toEqual(before);
  });
});
