import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker';
import { agentTaskQueue, TASK_QUEUES } from '../contract/names.ts';
import {
  type CommonWorkerOptions,
  createTogether,
  type RunningWorker,
  temporalOptions,
} from '../contract/worker-options.ts';
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

/**
 * Creates the worker for the platform's workflows and activities and, unless `runsAgents` is false, a second one for
 * agents, which runs at most `agents.runsAtOnce` at a time. `worker.run()` resolves after `worker.shutdown()`, once
 * everything has ended or was released. If one can't be created, none remains, and the connection may be closed.
 */
export async function createPlatformWorker(deps: PlatformWorkerDeps): Promise<RunningWorker> {
  const taskQueue = deps.taskQueue ?? TASK_QUEUES.platform;
  const main = Worker.create({
    ...sharedOptions(deps),
    taskQueue,
    activities: createPlatformActivities(deps),
    ...workflowSource(deps.workflowBundle),
    maxConcurrentActivityTaskExecutions: ACTIVITIES,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    // Otherwise a killed worker's workflows would wait 10 s for it before another one gets them.
    stickyQueueScheduleToStartTimeout: '2s',
  });
  const runsAgents = deps.agents !== undefined && deps.runsAgents !== false;
  return await createTogether(runsAgents ? [main, createAgentWorker(deps)] : [main]);
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

function sharedOptions(deps: PlatformWorkerDeps): ReturnType<typeof temporalOptions> {
  const options = temporalOptions(deps);
  return {
    ...options,
    interceptors: { activity: [...(options.interceptors?.activity ?? []), redactQueryValues] },
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: deps.shutdownForceTime ?? SHUTDOWN_FORCE,
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
