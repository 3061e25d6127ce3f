import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Logger } from 'pino';
import { plainReason } from '../../base/plain-reason.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { applyMigrations } from './apply-migrations.ts';
import { isDatabaseAway, refusalOf } from './database-away.ts';
import { withoutValues } from './query-error.ts';

/** Next to this file in the source and, copied by the build, in dist/. */
const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

/** Any fixed number: processes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_205_113;
const LOOK_AGAIN_MS = 250;

type MigrationOptions = {
  /** The migrations folder; the platform's own by default. */
  folder?: string;
  logger?: Logger | undefined;
  /** Aborts the wait for another process, or a running migration, which the database rolls back. */
  signal?: AbortSignal | undefined;
};

/**
 * Applies missing migrations. Safe from any number of processes. Uses its own connection without a statement timeout:
 * building an index of a large table takes longer than any query may.
 */
export async function migrateDatabase({ pool }: { pool: pg.Pool }, options: MigrationOptions = {}): Promise<void> {
  // Held but unused: the embedded database is one session behind all connections, and no query may run in between.
  const held = await pool.connect();
  try {
    await migrateOnOwnConnection(pool, options);
  } finally {
    held.release();
  }
}

async function migrateOnOwnConnection(
  { options: { connectionString, connectionTimeoutMillis } }: pg.Pool,
  { folder = MIGRATIONS, logger, signal }: MigrationOptions,
): Promise<void> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis,
    keepAlive: true,
    application_name: 'galley-platform migrations',
  });
  // A broken connection fails the current statement; without a listener its error event would end the process as well.
  client.on('error', () => undefined);
  const end = () => void client.end().catch(() => undefined);
  try {
    await client.connect();
    // Only now: a client that is ended while it connects never settles.
    signal?.addEventListener('abort', end, { once: true });
    signal?.throwIfAborted();
    for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await client.query(`set ${limit} = 0`);
    await takeLock(client, { logger, signal });
    await applyMigrations(client, folder);
    // The embedded database's session outlives the connection.
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  } finally {
    signal?.removeEventListener('abort', end);
    await client.end().catch(() => undefined);
  }
}

/**
 * Polls the lock instead of waiting in a statement: creating an index concurrently waits for all earlier statements, so
 * the lock's holder and a waiting statement would deadlock.
 */
async function takeLock(client: pg.Client, { logger, signal }: Omit<MigrationOptions, 'folder'>): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.taken) return;
    if (isFirst) logger?.info('Another process migrates the database; waiting for it');
    await sleep(LOOK_AGAIN_MS, undefined, signal && { signal });
  }
}

/**
 * `migrateDatabase`, retried while the database is unavailable. Throws any other failure, and on abort.
 * @throws ConfigurationError if the server refuses the login, the database or the permission: that ends no wait.
 */
export async function migrateWhenReachable(
  database: { pool: pg.Pool },
  { logger, signal }: { logger: Logger; signal?: AbortSignal },
): Promise<void> {
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    signal?.throwIfAborted();
    try {
      await migrateDatabase(database, { logger, signal });
      return;
    } catch (error) {
      signal?.throwIfAborted();
      const refusal = refusalOf(error);
      if (refusal !== undefined) throw refused(refusal);
      if (!isDatabaseAway(error)) throw error;
      logger.warn(
        { reason: plainReason(withoutValues(error)), retryInMs: waitMs },
        'The database is away; waiting for it',
      );
      await sleep(waitMs, undefined, signal && { signal });
    }
  }
}

function refused(said: string): ConfigurationError {
  return new ConfigurationError([
    `DATABASE_URL: expected a login that may create tables in an existing database, but the server says: ${said}`,
  ]);
}
