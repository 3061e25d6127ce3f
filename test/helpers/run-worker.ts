import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { TestTemporal } from './temporal.ts';
import { workflowBundles } from './workflow-bundles.ts';

/** Runs a worker until it is told to stop; stopping hands back what runs, and may be asked for more than once. */
export function runWorker(worker: Pick<Worker, 'run' | 'shutdown'>): { stop(): Promise<void> } {
  const ended = worker.run();
  let asked = false;
  return {
    stop: async () => {
      if (!asked) worker.shutdown();
      asked = true;
      await ended;
    },
  };
}

/** A worker that fails every workflow task of the platform, as a broken release does: its bundle lacks the workflows. */
export function brokenWorker({ nativeConnection, namespace }: TestTemporal): Omit<WorkerOptions, 'taskQueue'> {
  return { connection: nativeConnection, namespace, workflowBundle: workflowBundles.restless };
}
