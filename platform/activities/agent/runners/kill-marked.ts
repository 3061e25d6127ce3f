import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** More rounds than any honest program needs. A program that keeps forking on purpose can't be caught this way. */
const MAX_ROUNDS = 20;

/** Kills all processes whose initial environment held that variable. Finds none without /proc. */
export async function killMarked(variable: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const names = await readdir('/proc').catch(() => []);
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
    const killed = await Promise.all(pids.map((pid) => killIfMarked(pid, variable)));
    if (!killed.includes(true)) return;
    await delay(20);
  }
}

/** Kills it as soon as its environment was read: later, its number may be another's. */
async function killIfMarked(pid: number, variable: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  if (!environment.split('\0').includes(variable)) return false;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
  return true;
}
