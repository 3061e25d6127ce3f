import { drizzle, type NodePgDatabase, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PgDatabase } from 'drizzle-orm/pg-core';
import pg from 'pg';
import type { Logger } from 'pino';
import { migrateWhenReachable } from './migrate.ts';

type Tables = Record<string, never>;

/** The platform's database. `close` ends every connection; nothing may be asked of it afterwards. */
export type Database = NodePgDatabase<Tables> & { readonly pool: pg.Pool; close(): Promise<void> };

export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** What a query needs: the database, or the transaction it shall be part of. */
export type Executor = PgDatabase<NodePgQueryResultHKT, Tables>;

export type DatabaseOptions = {
  /** `postgres://user:password@host:port/name`; `?host=/folder` names a Unix socket's folder. */
  url: string;
  logger: Logger;
  /**
   * Connections at a time, 10 by default. Give 1 for the embedded database: PGlite is one session behind all its
   * connections, so a second one only waits for the first one's transaction, and their advisory locks would not exclude
   * each other. So no code here asks for a second connection while it holds a transaction.
   */
  maxConnections?: number;
  /** How long a request waits for a connection before the database counts as away, in milliseconds. */
  connectTimeoutMs?: number;
  /** How long one statement may take before its connection is given up, in milliseconds. */
  queryTimeoutMs?: number;
};

/** Connects lazily: nothing is sent, and nothing fails, before the first query. Migrations are the caller's affair. */
export function connectDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    query_timeout: options.queryTimeoutMs ?? 60_000,
    keepAlive: true,
    application_name: 'galley-platform',
  });
  // A connection that breaks while idle or between two statements says so by an event that would end the process.
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
 * Connects and applies the migrations, waiting as long as it takes for the database to be there (design: no program
 * exits for its absence). Throws when a migration fails or `signal` is aborted.
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
 * Drizzle's own `transaction` on a pool keeps the connection for ever when `begin` fails, which with one connection
 * is the end. This one always gives it back, and throws it away where its state is unknown.
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
      // On a broken connection the rollback fails too, and would hide what happened first.
      throw refusal === undefined ? error : refusal.error;
    } finally {
      const idle = finished || (refusal !== undefined && (await isIdle(client)));
      client.release(!idle);
    }
  };
}

/** True where the connection answers and is in no transaction. */
async function isIdle(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}
