import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ExportLimits } from '../../exporter/limits.ts';

export type WorkerProcessOptions = {
  databaseUrl: string;
  objectStoreUrl: string;
  temporalAddress: string;
  temporalNamespace: string;
  identity: string;
  limits?: Partial<ExportLimits>;
};

export type WorkerProcess = {
  /** Sends SIGKILL, so the worker releases and reports nothing. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for the worker's graceful shutdown. */
  stop(): Promise<void>;
};

/** Starts a platform worker as a child process and waits until it is about to poll. */
export function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  return startProcess('test/helpers/platform-worker-main.ts', options);
}

/** Starts a test program with its options as JSON and waits for its first line. */
export async function startProcess(main: string, options: object): Promise<WorkerProcess> {
  const child = spawn(process.execPath, ['--import', './scripts/typescript.js', main, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--no-warnings' },
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const ready = once(lines, 'line');
  await Promise.race([
    ready,
    exited.then(([code]) => {
      throw new Error(`The worker process exited with ${code}`);
    }),
  ]);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  return { kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}
