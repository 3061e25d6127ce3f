import type {
  ActivityInterceptors,
  DataConverter,
  NativeConnection,
  Worker,
  WorkerInterceptors,
  WorkerOptions,
} from '@temporalio/worker';
import { plainText } from '../base/plain-reason.ts';

/**
 * A worker's version for Temporal's Worker Versioning, set by the operator (`WORKER_DEPLOYMENT` and `WORKER_BUILD_ID`).
 * All workers of one release, orchestrator and platform, have the same one.
 */
export type WorkerVersion = { deploymentName: string; buildId: string };

/** What every worker of the orchestrator and the platform is given. */
export type CommonWorkerOptions = {
  connection: NativeConnection;
  namespace?: string;
  dataConverter?: DataConverter;
  identity?: string;
  /** Temporal's Worker Versioning needs it; without it the worker polls the queue unversioned. */
  version?: WorkerVersion | undefined;
  /** Traces activities and, with a traced bundle, workflows. */
  tracing?: (Pick<WorkerOptions, 'sinks'> & Pick<WorkerInterceptors, 'activity'>) | undefined;
};

/**
 * Not in the SDK's types. It ends a workflow task that takes longer, by default 5 s, in a way after which Node sometimes
 * aborts the process ("async hook stack has become corrupted"), and a busy machine alone can take that long.
 */
const LONGEST_TASK = { isolateExecutionTimeout: '1m' };

/** Changes what activities throw before it is kept in Temporal's history. */
export function changeFailures(change: (error: unknown) => unknown): ActivityInterceptors {
  return {
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          throw change(error);
        }
      },
    },
  };
}

/**
 * Pages, commands and mails show the failures of activities as they are in the history: they have words there instead of
 * codes of the system.
 */
const plainFailures = () =>
  changeFailures((error) => {
    if (error instanceof Error) error.message = plainText(error.message);
    return error;
  });

/** The options of Temporal's `Worker` that all workers share. */
export function temporalOptions(options: CommonWorkerOptions): Omit<WorkerOptions, 'taskQueue'> {
  const { connection, namespace = 'default', dataConverter, identity, version, tracing } = options;
  return {
    ...LONGEST_TASK,
    connection,
    namespace,
    interceptors: { activity: [...(tracing?.activity ?? []), plainFailures] },
    ...(tracing?.sinks && { sinks: tracing.sinks }),
    ...(dataConverter === undefined ? {} : { dataConverter }),
    ...(identity === undefined ? {} : { identity }),
    ...(version === undefined ? {} : { workerDeploymentOptions: versioned(version) }),
    // Heartbeats detect a killed worker (within 5 s) and show progress, so don't throttle them.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  };
}

/**
 * The worker gets work only while Temporal has its version as the current or ramping one. All workflow types
 * auto-upgrade, because they run for weeks: `patched` guards their changes.
 */
function versioned(version: WorkerVersion) {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } as const;
}

/** A Temporal `Worker`, or several that run as one. */
export type RunningWorker = Pick<Worker, 'run' | 'shutdown' | 'getState'>;

/**
 * Several workers as one: if one fails, the others stop too. If one can't be created, none remains, and their connection
 * may be closed.
 */
export async function createTogether(creating: readonly Promise<Worker>[]): Promise<RunningWorker> {
  const created = await Promise.allSettled(creating);
  const workers = created.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failure = created.find((each) => each.status === 'rejected');
  if (failure === undefined) return together(workers);
  await Promise.allSettled(workers.map(discard));
  throw failure.reason;
}

function together(workers: readonly Worker[]): RunningWorker {
  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    getState: () => workers.find((worker) => worker.getState() !== 'RUNNING')?.getState() ?? 'RUNNING',
    shutdown,
    async run() {
      const ends = await Promise.allSettled(workers.map((worker) => worker.run().finally(shutdown)));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
  };
}

/** A created worker holds threads and its connection, which it only releases at the end of a run. */
async function discard(worker: Worker): Promise<void> {
  const running = worker.run();
  worker.shutdown();
  await running;
}
