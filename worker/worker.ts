import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { type DataConverter, type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { type ActivityDeps, createActivities } from '../activities/create-activities.ts';
import { createMailer, type Mailer } from '../activities/reviewers/mailer.ts';
import type { ReadSite } from '../activities/sites/read-site.ts';
import { TASK_QUEUES } from '../contract/names.ts';
import { versioned, type WorkerVersion } from '../contract/worker-version.ts';
import { announcePins, type WatchedFile } from './announce-pins.ts';

type OrchestratorWorkerDeps = {
  connection: NativeConnection;
  /** Tells sites of pins that operators change; without it they notice at their next timer. */
  client?: Client;
  namespace?: string;
  taskQueue?: string;
  readSite: ReadSite;
  /** The values files to watch for pins. */
  deployments?: readonly WatchedFile[];
  adminApi: { url: string; key: string; quickAsksMs?: readonly number[] };
  /** Minimum time between two refreshes of one link (`MIN_REFRESH_INTERVAL`). */
  minRefreshIntervalMs: number;
  /** The mail server of galley.yaml; without it no mail is sent. */
  smtp?: { url: string; from: string } | undefined;
  /** Mail addresses that get reports of failures. */
  operators?: readonly string[];
  /** Without it reviews are requested by mail only, and pull requests aren't followed. */
  forge?: ActivityDeps['forge'];
  /** The receiver's public URL for mails. */
  publicUrl?: string | undefined;
  /** Signs unsubscribe links; the Admin API key by default. */
  unsubscribeKey?: string | undefined;
  /** Whether the search attributes are usable (determined at program start). */
  searchAttributes: boolean;
  logger: Logger;
  /** The bundle of scripts/bundle-workflows.js; without it the workflows are bundled at start, which takes seconds. */
  workflowBundle?: WorkflowBundleOption;
  dataConverter?: DataConverter;
  /** For Temporal's Worker Versioning; without it the worker polls the queue unversioned. */
  version?: WorkerVersion | undefined;
  identity?: string;
};

/** Activities mostly wait for other machines, so many of them cost little. */
const ACTIVITIES = 100;
const WORKFLOW_TASKS = 40;

/**
 * Workflows cached in memory. Each takes about 1.6 MB, so with the SDK's default 10,000 sites would fill the heap.
 * Others are replayed at their next task, and their histories are short.
 */
const CACHED_WORKFLOWS = 500;

/**
 * Running activities may take this long when the worker stops. Later ones are retried elsewhere, so nothing is lost.
 */
const SHUTDOWN_GRACE = '8s';

/**
 * Creates the worker for all workflows and activities of the orchestrator. `worker.run()` resolves after
 * `worker.shutdown()`, once everything has ended or was released.
 */
export async function createOrchestratorWorker(deps: OrchestratorWorkerDeps): Promise<Worker> {
  const { connection, client, logger, dataConverter, identity, workflowBundle, version } = deps;
  const { readSite, adminApi, minRefreshIntervalMs, searchAttributes, operators, forge, publicUrl } = deps;
  const mailer = deps.smtp && createMailer(deps.smtp);
  const worker = await Worker.create({
    connection,
    namespace: deps.namespace ?? 'default',
    taskQueue: deps.taskQueue ?? TASK_QUEUES.orchestrator,
    activities: createActivities({
      readSite,
      adminApi,
      minRefreshIntervalMs,
      searchAttributes,
      logger,
      mailer,
      forge,
      publicUrl,
      unsubscribeKey: deps.unsubscribeKey,
      client,
      ...(operators === undefined ? {} : { operators }),
    }),
    ...(workflowBundle === undefined ? { workflowsPath: workflowsPath() } : { workflowBundle }),
    ...(dataConverter === undefined ? {} : { dataConverter }),
    ...(identity === undefined ? {} : { identity }),
    workerDeploymentOptions: version === undefined ? await unversioned(workflowBundle) : versioned(version),
    maxConcurrentActivityTaskExecutions: ACTIVITIES,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    // Otherwise a killed worker's workflows would wait 10 s for it before another one gets them.
    stickyQueueScheduleToStartTimeout: '2s',
    // Heartbeats detect a killed worker (within 5 s) and show progress, so don't throttle them.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
    shutdownGraceTime: SHUTDOWN_GRACE,
  });
  if (mailer) closeWhenEnded(worker, mailer);
  if (client) void announcePins({ client, logger, files: deps.deployments ?? [], ended: () => hasEnded(worker) });
  return worker;
}

/** Connections to the mail server live as long as the activities that use them. */
function closeWhenEnded(worker: Worker, mailer: Mailer): void {
  const run = worker.run.bind(worker);
  worker.run = () => run().finally(() => mailer.close());
}

function hasEnded(worker: Worker): boolean {
  const state = worker.getState();
  return state !== 'INITIALIZED' && state !== 'RUNNING';
}

/** Tells Temporal the build, so that runs that another one began continue as new (workflows/entity/continue-as-new.ts). */
async function unversioned(bundle: WorkflowBundleOption | undefined) {
  const version = { deploymentName: 'galley', buildId: await buildOf(bundle) };
  return { version, useWorkerVersioning: false } as const;
}

async function buildOf(bundle: WorkflowBundleOption | undefined): Promise<string> {
  if (bundle === undefined) return 'unbundled';
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  return createHash('sha256').update(code).digest('hex').slice(0, 16);
}

function workflowsPath(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`../workflows/index.${extension}`, import.meta.url));
}
