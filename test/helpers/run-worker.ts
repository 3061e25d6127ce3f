import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { TestTemporal } from './temporal.ts';
import { workflowBundles } from './workflow-bundles.ts';

/** Only names a worker that hangs, instead of the test's own time limit ten minutes later. */
const STOP_LIMIT_MS = 120_000;

/** Runs a worker until it is told to stop; stopping hands back what runs, and may be asked for more than once. */
export function runWorker(worker: Pick<Worker, 'run' | 'shutdown'> & Partial<Pick<Worker, 'getStatus'>>): {
  stop(): Promise<void>;
} {
  const ended = worker.run();
  let asked = false;
  return {
    stop: async () => {
      if (!asked) worker.shutdown();
      asked = true;
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

/** A worker that fails every workflow task of the platform, as a broken release does: its bundle lacks the workflows. */
export function brokenWorker({ nativeConnection, namespace }: TestTemporal): Omit<WorkerOptions, 'taskQueue'> {
  return { connection: nativeConnection, namespace, workflowBundle: workflowBundles.restless };
}
