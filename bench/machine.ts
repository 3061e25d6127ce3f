import { availableParallelism, loadavg } from 'node:os';

/** The machine's cores, Node version and load: the conditions of the figures. */
export function machine(): string {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  return `${cores} cores, Node ${process.versions.node}, load average before the start ${load.toFixed(1)}`;
}

/** Progress goes to standard error, so that standard output contains only the result. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
