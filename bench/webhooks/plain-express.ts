import { createInterface } from 'node:readline';
import { spawnGuarded } from '../../embedded/guarded-child.ts';
import { typescript } from '../run-load.ts';

/** Starts bench/load/plain-express.ts. */
export async function startPlainExpress(): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = spawnGuarded(process.execPath, typescript('bench/load/plain-express.ts'), process.env);
  const url = await new Promise<string>((resolve, reject) => {
    if (child.process.stdout) {
      createInterface({ input: child.process.stdout }).once('line', (line) => resolve(line.replace('ready ', '')));
    }
    void child.exited.then(() => reject(new Error(`the Express process exited: ${child.output()}`)));
  });
  return { url, stop: child.stop };
}
