import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import type { TestDatabase } from './test-database.ts';
import { temporaryFolderOf, unprivileged } from './unprivileged-user.ts';

const run = promisify(execFile);

/**
 * Ends the server and removes its folder when standard input closes, which the system does even if this process is killed. The
 * server is a daemon, so nothing else would end it.
 */
const GUARD = `
read -r _
"$1" -D "$2/data" -m immediate stop
rm -rf "$2"
`;

/** The server doesn't check it. Tests use it to detect leaks of the password. */
export const POSTGRES_PASSWORD = 'password-of-the-database';

/**
 * A new PostgreSQL server on a free port, in a temporary folder. It refuses to run as root, so root runs it as the user
 * `nobody`. It ends with this process. `durable`: waits for the disk at each commit, as in production.
 */
export async function startPostgres({
  durable = false,
}: {
  durable?: boolean;
} = {}): Promise<TestDatabase & { data: string; restart(): Promise<void>; kill(): Promise<void> }> {
  const bin = await postgresBinFolder();
  const owner = await unprivileged();
  const folder = await temporaryFolderOf(owner, 'galley-postgres-');
  await chmod(folder, 0o700);
  const data = join(folder, 'data');
  const port = await freePort();
  const as = { ...owner, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } };
  const settings = [
    `-p ${port}`,
    `-k ${folder}`,
    '-c listen_addresses=127.0.0.1',
    `-c fsync=${durable ? 'on' : 'off'}`,
  ];
  const pgCtl = join(bin, 'pg_ctl');
  const control = (...args: string[]) =>
    run(pgCtl, ['-D', data, '-l', join(folder, 'log'), '-w', '-t', '240', ...args], as);
  const start = () => control('-o', settings.join(' '), 'start');

  const guard = spawn('/bin/sh', ['-c', GUARD, 'postgres-guard', pgCtl, folder], {
    ...as,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'galley', '-A', 'trust', '-E', 'UTF8', '--no-sync'], as);
  await start();
  return {
    url: `postgres://galley:${POSTGRES_PASSWORD}@127.0.0.1:${port}/postgres`,
    maxConnections: 10,
    data,
    async restart() {
      await control('-m', 'fast', 'stop').catch(() => undefined);
      await start();
    },
    async kill() {
      await control('-m', 'immediate', 'stop');
    },
    async stop() {
      const exited = once(guard, 'exit');
      guard.stdin.end();
      await exited;
      // That user may not remove it everywhere.
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function postgresBinFolder(): Promise<string> {
  try {
    return (await run('pg_config', ['--bindir'])).stdout.trim();
  } catch {
    throw new Error('PostgreSQL is not installed (no pg_config on the PATH). Run: npm run setup:integration');
  }
}
