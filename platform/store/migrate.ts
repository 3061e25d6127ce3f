import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseAway } from './database-away.ts';
import { withoutValues } from './query-error.ts';

/** Beside this file in the source and, copied by the build, in dist/. */
const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

/** Any fixed number of our own: processes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_205_113;

/** Applies the migrations that are missing. Safe from any number of processes at once. */
export async function migrateDatabase({ pool }: { pool: pg.Pool }): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await migrate(drizzle(client), { migrationsFolder: MIGRATIONS });
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    client.release();
  } catch (error) {
    // Closing the connection is what surely frees the lock.
    client.release(true);
    throw error;
  }
}

/** `migrateDatabase`, tried again for as long as the database is away. Throws any other failure, and on abort. */
export async function migrateWhenReachable(
  database: { pool: pg.Pool },
  { logger, signal }: { logger: Logger; signal?: AbortSignal },
): Promise<void> {
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    signal?.throwIfAborted();
    try {
      await migrateDatabase(database);
      return;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      logger.warn({ err: withoutValues(error), retryInMs: waitMs }, 'The database is away; waiting for it');
      await sleep(waitMs, undefined, signal && { signal });
    }
  }
}
