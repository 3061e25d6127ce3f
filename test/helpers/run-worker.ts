import type { Worker } from '@temporalio/worker';

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
