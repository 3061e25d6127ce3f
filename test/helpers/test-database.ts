import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { openDatabase } from '../../platform/store/database.ts';
import { SHARED, sharedServer } from './shared-names.ts';

export type TestDatabase = { url: string; maxConnections: number; stop(): Promise<void> };

/** Has the platform's tables and no rows. */
const TEMPLATE = 'galley_template';

/** Creates the database that `createDatabase` copies, once per run. */
export async function createTemplateDatabase(serverUrl: string): Promise<void> {
  await query(serverUrl, `create database ${TEMPLATE}`);
  const url = urlOf(serverUrl, TEMPLATE);
  const migrated = await openDatabase({ url, maxConnections: 1, logger: pino({ level: 'silent' }) });
  await migrated.close();
}

/** Creates a database on the run's shared PostgreSQL server: with the platform's tables, or `empty`. */
export async function createDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const serverUrl = sharedServer(SHARED.postgres);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await query(serverUrl, `create database ${name} template ${empty ? 'template0' : TEMPLATE}`);
  return {
    url: urlOf(serverUrl, name),
    maxConnections: 10,
    stop: () => query(serverUrl, `drop database if exists ${name} with (force)`),
  };
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
