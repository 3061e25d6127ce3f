import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { TestTemporal } from './temporal.ts';
import { workflowBundles } from './workflow-bundles.ts';

/** Reports a hanging worker before the test's own timeout, ten minutes later, would. */
const STOP_LIMIT_MS = 120_000;

/** Runs a worker until `stop`, which shuts it down gracefully. Further calls of `stop` wait for the same shutdown. */
export function runWorker(worker: Pick<Worker, 'run' | 'shutdown'> & Partial<Pick<Worker, 'getStatus'>>): {
  stop(): Promise<void>;
} {
  const ended = worker.run();
  let isStopping = false;
  return {
    stop: async () => {
      if (!isStopping) worker.shutdown();
      isStopping = true;
      let limit: NodeJS.Timeout | undefined;
      const hangs = new Promise<never>((_, reject) => {
        const report = (): void =>
          reject(new Error(`the worker does not stop: ${JSON.stringify(worker.getStatus?.())}`));
        limit = setTimeout(report, STOP_LIMIT_MS);
      });
      await Promise.race([ended, hangs]).finally(() => clearTimeout(limit));
    },
  };
}

/** A worker that fails every workflow task of the platform, like a broken release: its bundle lacks the workflows. */
export function brokenWorker({ nativeConnection, namespace }: TestTemporal): Omit<WorkerOptions, 'taskQueue'> {
  return { connection: nativeConnection, namespace, workflowBundle: workflowBundles.restless };
}
