import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { createEmptyDatabase } from './empty-database.ts';

export type TestDatabase = { url: string; maxConnections: number; stop(): Promise<void> };

/**
 * An empty embedded PostgreSQL in memory behind a port, as `npm start` has one. It is one session behind all its
 * connections, so a pool on it has one.
 */
export async function startPglite(port = 0): Promise<TestDatabase> {
  const db = await createEmptyDatabase();
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port, maxConnections: 8 });
  await server.start();
  return {
    url: `postgres://postgres:postgres@${server.getServerConn()}/postgres`,
    maxConnections: 1,
    async stop() {
      await server.stop();
      await db.close();
    },
  };
}
