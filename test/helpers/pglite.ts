import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { KEPT_DATABASES } from './kept-databases.ts';

export type TestDatabase = { url: string; maxConnections: number; stop(): Promise<void> };

/**
 * An embedded PostgreSQL in memory behind a port, as `npm start` has one: with the platform's tables and nothing in them,
 * unless `kept` says otherwise. It is one session behind all its connections, so a pool on it has one.
 *
 * It is a process of its own: within a jest worker its memory would stay there, and each program that is started from a
 * process first copies its page tables (measured: 14 ms instead of 1, for git as for everything else).
 */
export async function startPglite(port = 0, kept: keyof typeof KEPT_DATABASES = 'migrated'): Promise<TestDatabase> {
  const main = join(process.cwd(), 'test/helpers/pglite-main.js');
  const child = spawn(process.execPath, [main, String(port), KEPT_DATABASES[kept]], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const address = await Promise.race([
    once(child.stdout, 'data').then(([line]) => String(line).trim()),
    exited.then(([code]) => Promise.reject(new Error(`The database's process ended with ${code}`))),
  ]);
  return {
    url: `postgres://postgres:postgres@${address}/postgres`,
    maxConnections: 1,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
