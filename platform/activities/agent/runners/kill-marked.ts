import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** More rounds than any honest program needs; a program that forks on purpose wins against any number. */
const MAX_ROUNDS = 20;

/** Ends every process whose environment held that variable when it started. Finds none where there is no /proc. */
export async function killMarked(variable: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const marked = await findMarked(variable);
    if (marked.length === 0) return;
    for (const pid of marked) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    await delay(20);
  }
}

async function findMarked(variable: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(variable) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}
