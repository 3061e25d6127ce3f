import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { errorText } from '../../base/error-code.ts';
import type { RunningWorker } from '../../contract/worker-options.ts';
import type { Lifetime } from '../process/lifetime.ts';
import type { Temporal } from './temporal.ts';
import { workerMetrics } from './worker-metrics.ts';

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

/** How often to check whether Temporal responds: rarely while it does, often during an outage. */
const LOOK_EVERY_MS = 2_000;
const AWAIT_EVERY_MS = 500;

/**
 * After an outage of this length a worker's polls wait seconds between attempts. Shorter ones are ignored: they may be
 * this machine's own, and a replaced worker hands back its tasks.
 */
const OUTAGE_MS = 6_000;

/** The clock of this wait. */
interface Clock {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const REAL_CLOCK: Clock = { now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, { signal }) };

/**
 * Resolves once Temporal responds again after an outage. Rejects only if `signal` is aborted.
 * @param ready whether Temporal responds now; takes a second at most.
 * @param onOutage called once, when a silence has become an outage.
 */
export async function untilTemporalReturns(
  ready: () => Promise<boolean>,
  signal: AbortSignal,
  onOutage: () => void = () => {},
  clock: Clock = REAL_CLOCK,
): Promise<void> {
  let reported = false;
  let awaySinceMs: number | undefined;
  for (;;) {
    await clock.sleep(awaySinceMs === undefined ? LOOK_EVERY_MS : AWAIT_EVERY_MS, signal);
    if (!(await ready())) {
      awaySinceMs ??= clock.now();
      if (!reported && clock.now() - awaySinceMs >= OUTAGE_MS) {
        reported = true;
        onOutage();
      }
      continue;
    }
    if (reported || (awaySinceMs !== undefined && clock.now() - awaySinceMs >= OUTAGE_MS)) return;
    awaySinceMs = undefined;
  }
}
