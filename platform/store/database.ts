import { drizzle, type NodePgDatabase, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PgDatabase } from 'drizzle-orm/pg-core';
import pg from 'pg';
import type { Logger } from 'pino';
import { migrateWhenReachable } from './migrate.ts';

type Tables = Record<string, never>;

/** The platform's database. `close` ends all connections; don't query it afterwards. */
export type Database = NodePgDatabase<Tables> & { readonly pool: pg.Pool; close(): Promise<void> };

export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** What a query runs on: the database or a transaction. */
export type Executor = PgDatabase<NodePgQueryResultHKT, Tables>;

export type DatabaseOptions = {
  /** `postgres://user:password@host:port/name`; `?host=/folder` names a Unix socket's folder. */
  url: string;
  logger: Logger;
  /**
   * Maximum number of connections, 10 by default. Use 1 for the embedded database: PGlite is one session behind all
   * connections, so a second one would wait for the first one's transaction, and advisory locks would not exclude each
   * other. So no code requests a second connection while it holds a transaction.
   */
  maxConnections?: number;
  /** How long a request waits for a connection before the database counts as unavailable, in milliseconds. */
  connectTimeoutMs?: number;
  /** How long one statement may take before its connection is given up, in milliseconds. */
  queryTimeoutMs?: number;
};

/** Connects lazily: nothing is sent or fails before the first query. The caller runs migrations. */
export function connectDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    query_timeout: options.queryTimeoutMs ?? 60_000,
    keepAlive: true,
    application_name: 'galley-platform',
  });
  // Without a listener, the error event of a connection that breaks between statements would end the process.
  const onError = (error: Error) => options.logger.warn({ err: error }, 'A database connection broke');
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return Object.assign(drizzle<Tables>(pool), {
    pool,
    close: () => pool.end(),
    transaction: transactionOn(pool),
  });
}

/**
 * Connects and applies the migrations, waiting until the database is available: no program exits because it
 * isn't. Throws if it refuses the login, a migration fails, or `signal` is aborted.
 */
export async function openDatabase(options: DatabaseOptions & { signal?: AbortSignal }): Promise<Database> {
  const database = connectDatabase(options);
  try {
    await migrateWhenReachable(database, { logger: options.logger, ...(options.signal && { signal: options.signal }) });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Drizzle's own `transaction` never releases the pool's connection if `begin` fails. This one always releases it, and
 * destroys it if its state is unknown.
 */
function transactionOn(pool: pg.Pool): Database['transaction'] {
  return async (run, config) => {
    const client = await pool.connect();
    let finished = false;
    let refusal: { error: unknown } | undefined;
    try {
      const result = await drizzle<Tables, pg.PoolClient>(client).transaction(async (tx) => {
        try {
          return await run(tx);
        } catch (error) {
          refusal = { error };
          throw error;
        }
      }, config);
      finished = true;
      return result;
    } catch (error) {
      // On a broken connection the rollback fails too, and would hide the first error.
      throw refusal === undefined ? error : refusal.error;
    } finally {
      const idle = finished || (refusal !== undefined && (await isIdle(client)));
      client.release(!idle);
    }
  };
}

/** True if the connection responds and is in no transaction. */
async function isIdle(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}
