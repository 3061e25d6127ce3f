import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker';
import { agentTaskQueue, TASK_QUEUES } from '../contract/names.ts';
import { type CommonWorkerOptions, temporalOptions } from '../contract/worker-options.ts';
import { DEFAULT_AGENT_SETTINGS } from './activities/agent/agent-deps.ts';
import { createAgentActivities } from './activities/agent/create-agent-activities.ts';
import { createPlatformActivities, type PlatformActivityDeps } from './activities/create-platform-activities.ts';
import { redactQueryValues } from './redact-failures.ts';

export type PlatformWorkerDeps = PlatformActivityDeps &
  CommonWorkerOptions & {
    taskQueue?: string;
    /** Replaces the build's own bundle (scripts/bundle-workflows.js). */
    workflowBundle?: WorkflowBundleOption;
    /** False leaves agents to `createAgentWorker` in another process. The steps around them still run here. */
    runsAgents?: boolean;
    /** `run` rejects if the worker hasn't stopped by then. */
    shutdownForceTime?: WorkerOptions['shutdownForceTime'];
  };

/** Three large exports: one share of each runs here, and other shares wait for a free process. */
const ACTIVITIES = 24;
const WORKFLOW_TASKS = 20;

/** Running activities release their leases within this time when the worker stops; another worker continues. */
const SHUTDOWN_GRACE = '5s';
const SHUTDOWN_FORCE = '10s';
const AGENT_SHUTDOWN_GRACE = '1s';

/** Runs the platform's workers: like a Temporal `Worker`, but possibly two of them. */
type PlatformWorker = Pick<Worker, 'run' | 'shutdown' | 'getState'>;

/**
 * Creates the worker for the platform's workflows and activities and, unless `runsAgents` is false, a second one for
 * agents, which runs at most `agents.runsAtOnce` at a time. `worker.run()` resolves after `worker.shutdown()`, once
 * everything has ended or was released. If one can't be created, none remains, and the connection may be closed.
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
    // Otherwise a killed worker's workflows would wait 10 s for it before another one gets them.
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

/** Creates a worker that only runs agents: no exports, no workflows, no steps around agents. */
export async function createAgentWorker(deps: PlatformWorkerDeps): Promise<Worker> {
  const { runAgent } = createAgentActivities(deps);
  return await Worker.create({
    ...sharedOptions(deps),
    taskQueue: agentTaskQueue(deps.taskQueue ?? TASK_QUEUES.platform),
    activities: { runAgent },
    maxConcurrentActivityTaskExecutions: deps.agents?.runsAtOnce ?? DEFAULT_AGENT_SETTINGS.runsAtOnce,
    // Agents don't end within seconds, so use the time to kill them and to store their logs.
    shutdownGraceTime: AGENT_SHUTDOWN_GRACE,
  });
}

/** A created worker holds threads and its connection, which it only releases at the end of a run. */
async function discard(worker: Worker): Promise<void> {
  const running = worker.run();
  worker.shutdown();
  await running;
}

function sharedOptions(deps: PlatformWorkerDeps): ReturnType<typeof temporalOptions> {
  return {
    ...temporalOptions(deps),
    interceptors: { activity: [...(deps.tracing?.activity ?? []), redactQueryValues] },
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: deps.shutdownForceTime ?? SHUTDOWN_FORCE,
  };
}

/** Two workers as one: if one fails, the other stops too. */
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

/** The build's bundle starts immediately; from source the workflows are bundled at startup. */
function workflowSource(bundle: WorkflowBundleOption | undefined) {
  if (bundle !== undefined) return { workflowBundle: bundle };
  if (import.meta.url.endsWith('.ts')) {
    return { workflowsPath: fileURLToPath(new URL('./workflows/index.ts', import.meta.url)) };
  }
  return { workflowBundle: { codePath: fileURLToPath(new URL('../workflow-bundles/platform.js', import.meta.url)) } };
}
