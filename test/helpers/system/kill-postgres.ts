import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);

/** Kills all processes of a local PostgreSQL server at once, like a power cut. */
export async function killPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  client.on('error', () => undefined);
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  const [line] = (await readFile(join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8')).split('\n');
  const postmaster = Number(line);
  // Suspend it first, so that it starts no more children meanwhile.
  process.kill(postmaster, 'SIGSTOP');
  const children = (await processes()).filter(({ parent }) => parent === postmaster);
  const all = new Set([postmaster, ...children.map(({ pid }) => pid)]);
  for (const pid of all) kill(pid);
  await waitFor(async () => !(await processes()).some(({ pid }) => all.has(pid)), {
    describe: 'saw the end of PostgreSQL',
  });
  await client.end().catch(() => undefined);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}

/** Every running process, without zombies. */
async function processes(): Promise<{ pid: number; parent: number }[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,stat=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, state = 'Z'] = line.trim().split(/\s+/);
    return state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}
