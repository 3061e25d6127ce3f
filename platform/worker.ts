import { fileURLToPath } from 'node:url';
import {
  type DataConverter,
  type NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { agentTaskQueue, TASK_QUEUES } from '../contract/names.ts';
import { DEFAULT_AGENT_SETTINGS } from './activities/agent/agent-deps.ts';
import { createPlatformActivities, type PlatformActivityDeps } from './activities/create-platform-activities.ts';
import { tellFailuresWithoutValues } from './tell-failures.ts';

export type PlatformWorkerDeps = PlatformActivityDeps & {
  connection: NativeConnection;
  namespace?: string;
  taskQueue?: string;
  /** Another bundle than the build's own (scripts/bundle-workflows.js). */
  workflowBundle?: WorkflowBundleOption;
  dataConverter?: DataConverter;
  identity?: string;
};

/** Three large exports: of each one share is at work here, and the others wait for a process that has none. */
const ACTIVITIES = 24;
const WORKFLOW_TASKS = 20;

/** What runs at a stop gives back what it holds in this time; another worker goes on with it. */
const SHUTDOWN_GRACE = '5s';
const SHUTDOWN_FORCE = '10s';
const AGENT_SHUTDOWN_GRACE = '1s';

/** What runs the platform's workers: as a Temporal `Worker`, though it may be two of them. */
export type PlatformWorker = Pick<Worker, 'run' | 'shutdown' | 'getState'>;

/**
 * Makes the worker that runs the platform's workflows and activities, and a second one beside it for agents, which takes
 * only as many at a time as `agents.runsAtOnce`. `worker.run()` resolves after `worker.shutdown()`, once what was running
 * has ended or been handed back. Where one of them can't be made, none is left, and the connection may be closed.
 */
export async function createPlatformWorker(deps: PlatformWorkerDeps): Promise<PlatformWorker> {
  const taskQueue = deps.taskQueue ?? TASK_QUEUES.platform;
  const activities = createPlatformActivities(deps);
  const main = await Worker.create({
    ...sharedOptions(deps),
    taskQueue,
    activities,
    ...workflowSource(deps.workflowBundle),
    maxConcurrentActivityTaskExecutions: ACTIVITIES,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    // A killed worker's workflows would otherwise wait 10 s for it before another one is asked.
    stickyQueueScheduleToStartTimeout: '2s',
  });
  if (deps.agents === undefined) return main;
  try {
    const agents = await Worker.create({
      ...sharedOptions(deps),
      taskQueue: agentTaskQueue(taskQueue),
      activities: { runAgent: activities.runAgent },
      maxConcurrentActivityTaskExecutions: deps.agents.runsAtOnce ?? DEFAULT_AGENT_SETTINGS.runsAtOnce,
      // No agent ends by itself in seconds; the time is better spent on ending it and on storing its log.
      shutdownGraceTime: AGENT_SHUTDOWN_GRACE,
    });
    return together(main, agents);
  } catch (error) {
    await discard(main).catch((reason: unknown) => deps.logger.warn({ err: reason }, 'A worker ended uncleanly'));
    throw error;
  }
}

/** A worker that was made holds its threads and its connection, and gives them back only at the end of a run. */
async function discard(worker: Worker): Promise<void> {
  const running = worker.run();
  worker.shutdown();
  await running;
}

type Shared = Omit<WorkerOptions, 'taskQueue' | 'workflowBundle' | 'workflowsPath'>;

function sharedOptions({ connection, namespace = 'default', dataConverter, identity }: PlatformWorkerDeps): Shared {
  return {
    connection,
    namespace,
    interceptors: { activity: [tellFailuresWithoutValues] },
    ...(dataConverter === undefined ? {} : { dataConverter }),
    ...(identity === undefined ? {} : { identity }),
    // Heartbeats are what notices a killed worker (within 5 s) and what shows progress: they mustn't be saved up.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
  };
}

/** Two workers as one: both run until both are told to stop, and where one breaks off, so does the other. */
function together(main: Worker, agents: Worker): PlatformWorker {
  const shutdown = (): void => {
    for (const worker of [main, agents]) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    getState: () => main.getState(),
    shutdown,
    async run() {
      const ends = [main, agents].map((worker) => worker.run().finally(shutdown));
      const [first, second] = await Promise.allSettled(ends);
      for (const end of [first, second]) if (end?.status === 'rejected') throw end.reason;
    },
  };
}

/** The bundle that the build made, which starts at once; from source the workflows are bundled at start. */
function workflowSource(bundle: WorkflowBundleOption | undefined) {
  if (bundle !== undefined) return { workflowBundle: bundle };
  if (import.meta.url.endsWith('.ts')) {
    return { workflowsPath: fileURLToPath(new URL('./workflows/index.ts', import.meta.url)) };
  }
  return { workflowBundle: { codePath: fileURLToPath(new URL('../workflow-bundles/platform.js', import.meta.url)) } };
}
