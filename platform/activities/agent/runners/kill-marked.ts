import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** More rounds than any honest program needs. A program that keeps forking on purpose can't be caught this way. */
const MAX_ROUNDS = 20;

/** Kills all processes whose initial environment held that variable. Finds none without /proc. */
export async function killMarked(variable: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const marked = await findMarked(variable);
    if (marked.length === 0) return;
    for (const pid of marked) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has already ended.
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
