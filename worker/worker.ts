import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { type ActivityDeps, createActivities, createNotificationActivities } from '../activities/create-activities.ts';
import { createDeploymentActivities } from '../activities/deployments/activities.ts';
import { createMailer, type Mailer } from '../activities/mails/send/mailer.ts';
import { NOTIFICATION_SLOTS } from '../activities/notifications/send-notification.ts';
import type { ReadSite } from '../activities/sites/read-site.ts';
import { sha256Hex } from '../base/sha256.ts';
import type { NotifyConfig } from '../contract/galley-config.ts';
import { deploymentTaskQueue, notificationTaskQueue, poolTaskQueue, TASK_QUEUES } from '../contract/names.ts';
import { deploymentPool, type Pool, SYSTEM_POOLS } from '../contract/pools.ts';
import { TARGET_KINDS, TARGETS } from '../contract/target-kind.ts';
import {
  type CommonWorkerOptions,
  createTogether,
  type RunningWorker,
  temporalOptions,
} from '../contract/worker-options.ts';
import { announcePins, type WatchedFile } from './announce-pins.ts';

type OrchestratorWorkerDeps = CommonWorkerOptions & {
  /** Notifies sites of pins that operators change; without it they notice at their next timer. */
  client?: Client;
  taskQueue?: string;
  readSite: ReadSite;
  /** The values files to watch for pins. */
  deployments?: readonly WatchedFile[];
  adminApi: ActivityDeps['adminApi'];
  /** Minimum time between two refreshes of one link (`MIN_REFRESH_INTERVAL`). */
  minRefreshIntervalMs: number;
  /** The mail server of galley.yaml; without it no mail is sent. */
  smtp?: { url: string; from: string } | undefined;
  /** Mail addresses that get reports of failures. */
  operators?: readonly string[];
  /** Targets of notifications. */
  notify?: NotifyConfig | undefined;
  /** Requested by each successful check of the watchdog (`HEARTBEAT_URL`). */
  heartbeatUrl?: string | undefined;
  /** Without it reviews are requested by mail only, and pull requests aren't followed. */
  forge?: ActivityDeps['forge'];
  /** What targets of deployments other than values files need. */
  targets?: ActivityDeps['targets'];
  /** The receiver's public URL for mails. */
  publicUrl?: string | undefined;
  /** Signs unsubscribe links; the Admin API key by default. */
  unsubscribeKey?: string | undefined;
  /** Whether the search attributes are usable (determined at program start). */
  searchAttributes: boolean;
  logger: Logger;
  /** The bundle of scripts/bundle-workflows.js; without it the workflows are bundled at start, which takes seconds. */
  workflowBundle?: WorkflowBundleOption;
};

/** Of the activities that run beside the workflows. Most of them run in pools. */
const ACTIVITIES = 50;
const WORKFLOW_TASKS = 40;

/**
 * Workflows cached in memory. Each takes about 1.6 MB, so with the SDK's default 10,000 sites would fill the heap.
 * Others are replayed at their next task, and their histories are short.
 */
const CACHED_WORKFLOWS = 500;

/**
 * Running activities may take this long when the worker stops. Later ones are retried elsewhere, so nothing is lost.
 */
const SHUTDOWN_GRACE = '8s' as const;

/** A queue that waits costs one open request. Under load more poll it. */
const POLLS = { type: 'autoscaling', minimum: 1, initial: 1, maximum: 5 } as const;

/**
 * Creates the worker for all workflows and activities of the orchestrator, with one for each pool on the same
 * connection. `worker.run()` resolves after `worker.shutdown()`, once everything has ended or was released.
 */
export async function createOrchestratorWorker(deps: OrchestratorWorkerDeps): Promise<RunningWorker> {
  const { client, logger, workflowBundle, version, taskQueue = TASK_QUEUES.orchestrator } = deps;
  const { readSite, adminApi, minRefreshIntervalMs, searchAttributes, operators, forge, publicUrl } = deps;
  const mailer = deps.smtp && createMailer(deps.smtp);
  const activities = createActivities({
    readSite,
    adminApi,
    minRefreshIntervalMs,
    searchAttributes,
    logger,
    mailer,
    forge,
    targets: deps.targets,
    publicUrl,
    unsubscribeKey: deps.unsubscribeKey,
    client,
    heartbeatUrl: deps.heartbeatUrl,
    ...(operators === undefined ? {} : { operators }),
    ...(deps.notify === undefined ? {} : { notify: deps.notify }),
  });
  const shared = {
    ...temporalOptions(deps),
    ...(version === undefined && { workerDeploymentOptions: await unversioned(workflowBundle) }),
    activityTaskPollerBehavior: POLLS,
    shutdownGraceTime: SHUTDOWN_GRACE,
  };
  const main = Worker.create({
    ...shared,
    taskQueue,
    activities: activities.own,
    ...(workflowBundle === undefined ? { workflowsPath: workflowsPath() } : { workflowBundle }),
    maxConcurrentActivityTaskExecutions: ACTIVITIES,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    // Otherwise a killed worker's workflows would wait 10 s for it before another one gets them.
    stickyQueueScheduleToStartTimeout: '2s',
  });
  const createPool = (name: Pool, slots: number, ofPool: object) =>
    Worker.create({
      ...shared,
      taskQueue: poolTaskQueue(taskQueue, name),
      activities: ofPool,
      maxConcurrentActivityTaskExecutions: slots,
    });
  const pools = [
    ...SYSTEM_POOLS.map(({ name, slots }) => createPool(name, slots, activities.pools[name])),
    ...TARGET_KINDS.map((kind) => createPool(deploymentPool(kind), TARGETS[kind].slots, activities.deployments)),
  ];
  const worker = await createTogether([main, ...pools]);
  if (mailer) closeWhenEnded(worker, mailer);
  if (client) void announcePins({ client, logger, files: deps.deployments ?? [], ended: () => hasEnded(worker) });
  return worker;
}

type NotificationWorkerDeps = CommonWorkerOptions &
  Pick<OrchestratorWorkerDeps, 'taskQueue' | 'notify' | 'publicUrl' | 'logger'> & {
    timing?: Parameters<typeof createNotificationActivities>[0]['timing'];
  };

/**
 * Creates the worker that delivers notifications, beside the orchestrator's in the same process. Its slots are its own, so
 * targets that hang delay neither exports nor refreshes.
 * @param deps `taskQueue`: the orchestrator's
 */
export async function createNotificationWorker(deps: NotificationWorkerDeps): Promise<Worker> {
  const { taskQueue, notify, publicUrl, logger, timing } = deps;
  return await Worker.create({
    ...temporalOptions(deps),
    taskQueue: notificationTaskQueue(taskQueue ?? TASK_QUEUES.orchestrator),
    activities: createNotificationActivities({ notify, publicUrl, logger, ...(timing && { timing }) }),
    maxConcurrentActivityTaskExecutions: NOTIFICATION_SLOTS,
    // Few polls, because notifications are rare.
    maxConcurrentActivityTaskPolls: 1,
    shutdownGraceTime: SHUTDOWN_GRACE,
  });
}

type DeploymentWorkerDeps = CommonWorkerOptions &
  Pick<OrchestratorWorkerDeps, 'readSite' | 'targets' | 'logger'> & { host: string };

/**
 * Creates the workers for the deployments on one machine's disk, beside the orchestrator's in the same process, one for
 * each kind. Only workers of that host name poll their queues, so no other machine writes its files.
 */
export async function createDeploymentWorker(deps: DeploymentWorkerDeps): Promise<RunningWorker> {
  const { host, readSite, targets, logger } = deps;
  const activities = createDeploymentActivities({ readSite, targets, logger });
  const kinds = TARGET_KINDS.filter((kind) => TARGETS[kind].isOnDisk);
  const workers = kinds.map((kind) =>
    Worker.create({
      ...temporalOptions(deps),
      taskQueue: deploymentTaskQueue(host, kind),
      activities,
      maxConcurrentActivityTaskExecutions: TARGETS[kind].slots,
      activityTaskPollerBehavior: POLLS,
      shutdownGraceTime: SHUTDOWN_GRACE,
    }),
  );
  return await createTogether(workers);
}

/** Connections to the mail server live as long as the activities that use them. */
function closeWhenEnded(worker: RunningWorker, mailer: Mailer): void {
  const run = worker.run.bind(worker);
  worker.run = () => run().finally(() => mailer.close());
}

function hasEnded(worker: RunningWorker): boolean {
  const state = worker.getState();
  return state !== 'INITIALIZED' && state !== 'RUNNING';
}

/** Reports the build to Temporal, so that runs that another one began continue as new (workflows/entity/continue-as-new.ts). */
async function unversioned(bundle: WorkflowBundleOption | undefined) {
  const version = { deploymentName: 'galley', buildId: await buildOf(bundle) };
  return { version, useWorkerVersioning: false } as const;
}

async function buildOf(bundle: WorkflowBundleOption | undefined): Promise<string> {
  if (bundle === undefined) return 'unbundled';
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  return sha256Hex(code).slice(0, 16);
}

function workflowsPath(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`../workflows/index.${extension}`, import.meta.url));
}
