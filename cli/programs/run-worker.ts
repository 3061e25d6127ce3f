import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { errorText } from '../../embedded/report.ts';
import type { Lifetime } from '../lifetime.ts';
import type { Temporal } from '../temporal.ts';

interface WorkerProgram {
  name: string;
  create(connection: NativeConnection): Promise<Worker>;
}

interface Surroundings {
  temporal: Temporal;
  logger: Logger;
  lifetime: Lifetime;
}

/** A worker that broke off is made anew after this pause. */
const RESTART_MS = 2_000;

/**
 * Runs a worker until the lifetime ends: waits for Temporal, and starts again when the worker breaks off. Resolves when
 * it polls for the first time.
 */
export async function runWorker(program: WorkerProgram, { temporal, logger, lifetime }: Surroundings): Promise<void> {
  const { signal } = lifetime;
  let current: Worker | undefined;
  let polling: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    polling = resolve;
  });

  const runOnce = async (): Promise<void> => {
    const connection = await temporal.connectWorker(signal);
    try {
      current = await program.create(connection);
      signal.throwIfAborted();
      const running = current.run();
      polling();
      await running;
    } finally {
      current = undefined;
      await connection.close();
    }
  };

  const runAll = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await runOnce();
      } catch (error) {
        if (signal.aborted) return;
        logger.error({ worker: program.name, reason: errorText(error) }, 'The worker broke off; it starts again');
        await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };

  // At once, not at this program's turn: workers drain for seconds, and do so side by side.
  signal.addEventListener('abort', () => {
    if (current?.getState() === 'RUNNING') current.shutdown();
  });
  const ended = runAll();
  lifetime.onStop(program.name, () => ended);
  await Promise.race([started, ended]);
}
