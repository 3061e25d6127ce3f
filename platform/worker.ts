import { fileURLToPath } from 'node:url';
import { type DataConverter, type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { TASK_QUEUES } from '../contract/names.ts';
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

/** Crawling and rewriting share one event loop: more at a time would only make each of them slower. */
const ACTIVITIES = 12;
const WORKFLOW_TASKS = 20;

/** What runs at a stop gives back what it holds in this time; another worker goes on with it. */
const SHUTDOWN_GRACE = '5s';
const SHUTDOWN_FORCE = '10s';

/**
 * Makes the worker that runs the platform's workflows and activities. `worker.run()` resolves after
 * `worker.shutdown()`, once what was running has ended or been handed back.
 */
export async function createPlatformWorker(deps: PlatformWorkerDeps): Promise<Worker> {
  const { connection, dataConverter, identity } = deps;
  return Worker.create({
    connection,
    namespace: deps.namespace ?? 'default',
    taskQueue: deps.taskQueue ?? TASK_QUEUES.platform,
    activities: createPlatformActivities(deps),
    ...workflowSource(deps.workflowBundle),
    interceptors: { activity: [tellFailuresWithoutValues] },
    ...(dataConverter === undefined ? {} : { dataConverter }),
    ...(identity === undefined ? {} : { identity }),
    maxConcurrentActivityTaskExecutions: ACTIVITIES,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    // A killed worker's workflows would otherwise wait 10 s for it before another one is asked.
    stickyQueueScheduleToStartTimeout: '2s',
    // Heartbeats are what notices a killed worker (within 5 s) and what shows progress: they mustn't be saved up.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
  });
}

/** The bundle that the build made, which starts at once; from source the workflows are bundled at start. */
function workflowSource(bundle: WorkflowBundleOption | undefined) {
  if (bundle !== undefined) return { workflowBundle: bundle };
  if (import.meta.url.endsWith('.ts')) {
    return { workflowsPath: fileURLToPath(new URL('./workflows/index.ts', import.meta.url)) };
  }
  return { workflowBundle: { codePath: fileURLToPath(new URL('../workflow-bundles/platform.js', import.meta.url)) } };
}
