import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { errorText } from '../../base/error-code.ts';
import { workerMetrics } from '../metrics/worker-metrics.ts';
import type { Lifetime } from '../process/lifetime.ts';
import type { Temporal } from './temporal.ts';
import { untilTemporalReturns } from './temporal-return.ts';

/** A Temporal worker, or several as one. */
type RunningWorker = Pick<Worker, 'run' | 'shutdown' | 'getState'>;

interface WorkerProgram {
  name: string;
  create(connection: NativeConnection): Promise<RunningWorker>;
}

interface Context {
  temporal: Temporal;
  logger: Logger;
  lifetime: Lifetime;
}

/** A failed worker is replaced after this pause. */
const RESTART_MS = 2_000;

/**
 * Runs a worker until the lifetime ends: waits for Temporal, and restarts a worker that fails. After an outage of
 * Temporal a new worker takes over, because the old one's polls would wait up to 10 s before their next attempt.
 * Resolves when it polls for the first time.
 */
export async function runWorker(program: WorkerProgram, { temporal, logger, lifetime }: Context): Promise<void> {
  const { signal } = lifetime;
  let current: RunningWorker | undefined;
  let polling: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    polling = resolve;
  });
  /** Replaced workers that are finishing their running tasks. */
  const draining = new Set<Promise<void>>();

  const retire = (worker: RunningWorker, running: Promise<void>): void => {
    logger.info({ worker: program.name }, 'Temporal is back: a new worker takes over');
    worker.shutdown();
    const drained = running
      .catch((error: unknown) => logger.warn({ worker: program.name, reason: errorText(error) }, 'Ended uncleanly'))
      .finally(() => draining.delete(drained));
    draining.add(drained);
  };

  const runOnce = async (): Promise<void> => {
    const connection = await temporal.connectWorker(signal);
    const over = new AbortController();
    try {
      const worker = await program.create(connection);
      current = worker;
      signal.throwIfAborted();
      const running = worker.run().finally(() => connection.close());
      polling();
      const tellOutage = (): void =>
        logger.warn({ worker: program.name, address: temporal.address }, 'Temporal is unavailable: waiting for it');
      const returned = untilTemporalReturns(temporal.ready, AbortSignal.any([signal, over.signal]), tellOutage).then(
        () => 'returned' as const,
        () => running,
      );
      if ((await Promise.race([running, returned])) === 'returned') retire(worker, running);
    } catch (error) {
      await connection.close().catch(() => undefined);
      throw error;
    } finally {
      current = undefined;
      over.abort();
    }
  };

  const runAll = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await runOnce();
      } catch (error) {
        if (signal.aborted) return;
        logger.error({ worker: program.name, reason: errorText(error) }, 'The worker failed; restarting it');
        await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };

  const isPolling = (): boolean => current?.getState() === 'RUNNING';
  workerMetrics()?.track({ name: program.name, isPolling, temporalReady: temporal.ready });
  // Immediately, not at this program's turn: workers drain for seconds, so drain them in parallel.
  signal.addEventListener('abort', () => {
    if (isPolling()) current?.shutdown();
  });
  const ended = runAll();
  lifetime.onStop(program.name, async () => {
    await ended;
    await Promise.all(draining);
  });
  await Promise.race([started, ended]);
}
