import { fileURLToPath } from 'node:url';
import {
  type DataConverter,
  type NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { agentTaskQueue, TASK_QUEUES } from '../contract/names.ts';
import { versioned, type WorkerVersion } from '../contract/worker-version.ts';
import { DEFAULT_AGENT_SETTINGS } from './activities/agent/agent-deps.ts';
import { createAgentActivities } from './activities/agent/create-agent-activities.ts';
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
  /** For Temporal's Worker Versioning; without it the worker takes any work of its queue. */
  version?: WorkerVersion | undefined;
  /** False leaves the runs of agents to `createAgentWorker` in another process. The steps around them are taken here. */
  runsAgents?: boolean;
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
 * only as many at a time as `agents.runsAtOnce`, unless `runsAgents` is false. `worker.run()` resolves after `worker.shutdown()`, once what was running
 * has ended or been handed back. Where one of them can't be made, none is left, and the connection may be closed.
 */
export async function createPlatformWorker(deps: PlatformWorkerDeps): Promise<PlatformWorker> {
  const taskQueue = deps.taskQueue ?? TASK_QUEUES.platform;
  const main = await Worker.create({
    ...sharedOptions(deps),
    taskQueue,
    activities: createPlatformActivities(deps),
    ...workflowSource(deps.workflowBundle),
    maxConcurrentActivityTaskExecutions: ACTIVITIES,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    // A killed worker's workflows would otherwise wait 10 s for it before another one is asked.
    stickyQueueScheduleToStartTimeout: '2s',
  });
  if (deps.agents === undefined || deps.runsAgents === false) return main;
  try {
    return together(main, await createAgentWorker(deps));
  } catch (error) {
    await discard(main).catch((reason: unknown) => deps.logger.warn({ err: reason }, 'A worker ended uncleanly'));
    throw error;
  }
}

/** Makes the worker that runs agents and does nothing else: neither exports nor workflows, nor the steps around agents. */
export async function createAgentWorker(deps: PlatformWorkerDeps): Promise<Worker> {
  const { runAgent } = createAgentActivities(deps);
  return await Worker.create({
    ...sharedOptions(deps),
    taskQueue: agentTaskQueue(deps.taskQueue ?? TASK_QUEUES.platform),
    activities: { runAgent },
    maxConcurrentActivityTaskExecutions: deps.agents?.runsAtOnce ?? DEFAULT_AGENT_SETTINGS.runsAtOnce,
    // No agent ends by itself in seconds; the time is better spent on ending it and on storing its log.
    shutdownGraceTime: AGENT_SHUTDOWN_GRACE,
  });
}

/** A worker that was made holds its threads and its connection, and gives them back only at the end of a run. */
async function discard(worker: Worker): Promise<void> {
  const running = worker.run();
  worker.shutdown();
  await running;
}

type Shared = Omit<WorkerOptions, 'taskQueue' | 'workflowBundle' | 'workflowsPath'>;

function sharedOptions(deps: PlatformWorkerDeps): Shared {
  const { connection, namespace = 'default', dataConverter, identity, version } = deps;
  return {
    connection,
    namespace,
    interceptors: { activity: [tellFailuresWithoutValues] },
    ...(dataConverter === undefined ? {} : { dataConverter }),
    ...(identity === undefined ? {} : { identity }),
    ...(version === undefined ? {} : { workerDeploymentOptions: versioned(version) }),
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
