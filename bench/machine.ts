import { availableParallelism, loadavg } from 'node:os';

/** The machine's state, without which figures mean nothing. */
export function machine(): string {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  return `${cores} cores, Node ${process.versions.node}, load average before the start ${load.toFixed(1)}`;
}

/** Progress goes to standard error, so that standard output is the result alone. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
