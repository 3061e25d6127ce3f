import { readMigrationFiles } from 'drizzle-orm/migrator';
import type pg from 'pg';
import { ConfigurationError } from '../../contract/configuration-error.ts';

type Migration = { statements: readonly string[]; createdAt: number; hash: string };

/**
 * Applies the migrations (written by drizzle-kit) that the database lacks, in order, each in its own transaction. A
 * migration that creates or drops indexes concurrently can't run in a transaction and runs statement by statement.
 * Records them in Drizzle's own table. The caller holds the migration lock.
 * @throws Error if a migration mixes concurrent statements with others: it couldn't be repeated after a crash;
 * ConfigurationError if the database began with another first migration.
 */
export async function applyMigrations(client: pg.Client, folder: string): Promise<void> {
  const migrations = migrationsOf(folder);
  const applied = await appliedMigrations(client);
  if (applied.length > 0 && !applied.some(({ hash }) => hash === migrations[0]?.hash)) throw anotherBaseline();
  await client.query('create schema if not exists drizzle');
  await client.query(
    'create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
  );
  const newest = Math.max(0, ...applied.map(({ at }) => Number(at)));
  for (const migration of migrations.filter(({ createdAt }) => createdAt > newest))
    if (isConcurrent(migration)) await applyConcurrently(client, migration);
    else await applyInTransaction(client, migration);
}

async function appliedMigrations(client: pg.Client): Promise<{ hash: string; at: string }[]> {
  const found = await client.query(
    `select 1 from pg_tables where schemaname = 'drizzle' and tablename = '__drizzle_migrations'`,
  );
  if (found.rows.length === 0) return [];
  return (await client.query('select hash, created_at::text as at from drizzle.__drizzle_migrations')).rows;
}

function anotherBaseline(): ConfigurationError {
  return new ConfigurationError([
    'DATABASE_URL: expected an empty database or one of this build, but it is one of another build of Galley: name an ' +
      'empty one and create keys and projects again; nothing was changed',
  ]);
}

function migrationsOf(migrationsFolder: string): Migration[] {
  return readMigrationFiles({ migrationsFolder }).map(({ sql, folderMillis, hash }) => ({
    statements: sql.map((statement) => statement.replaceAll(/^\s*--.*$/gm, '').trim()).filter(Boolean),
    createdAt: folderMillis,
    hash,
  }));
}

const CREATE_INDEX = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?("[^"]+"|\w+)\s/i;
const DROP_INDEX = /^drop\s+index\s+concurrently\s/i;

function isConcurrent({ statements }: Migration): boolean {
  const others = statements.filter((statement) => !CREATE_INDEX.test(statement) && !DROP_INDEX.test(statement));
  if (others.length === statements.length) return false;
  if (others.length === 0) return true;
  throw new Error(
    `CREATE and DROP INDEX CONCURRENTLY need a migration of its own, without: ${others[0]?.slice(0, 100)}`,
  );
}

async function applyInTransaction(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    for (const statement of migration.statements) await client.query(statement);
    await remember(client, migration);
    await client.query('commit');
  } catch (error) {
    // On a broken connection the rollback fails too, and would hide the first error.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Repeatable: drop an index that an earlier attempt left invalid. */
async function applyConcurrently(client: pg.Client, migration: Migration): Promise<void> {
  for (const statement of migration.statements) {
    const [, index] = CREATE_INDEX.exec(statement) ?? [];
    if (index !== undefined) await client.query(`drop index concurrently if exists ${index}`);
    await client.query(statement);
  }
  await remember(client, migration);
}

async function remember(client: pg.Client, { hash, createdAt }: Migration): Promise<void> {
  await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [hash, createdAt]);
}
