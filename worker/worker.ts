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

export type OrchestratorWorkerDeps = {
  connection: NativeConnection;
  /** Tells sites of pins that operators change; without it they find out at their next timer. */
  client?: Client;
  namespace?: string;
  taskQueue?: string;
  readSite: ReadSite;
  /** The values files whose pins are watched on behalf of their sites. */
  deployments?: readonly WatchedFile[];
  adminApi: { url: string; key: string; quickAsksMs?: readonly number[] };
  /** Time between two refreshes of one link at least (`MIN_REFRESH_INTERVAL`). */
  minRefreshIntervalMs: number;
  /** The mail server of galley.yaml; without it nobody gets mail. */
  smtp?: { url: string; from: string } | undefined;
  /** Mail addresses of those who are told of failures. */
  operators?: readonly string[];
  /** Where reviews are asked for and pull requests are followed; without it only the mail part of a review runs. */
  forge?: ActivityDeps['forge'];
  /** Where reviewers reach the receiver, as their mails name it. */
  publicUrl?: string | undefined;
  /** Signs the links to unsubscribe; the Admin API key by default. */
  unsubscribeKey?: string | undefined;
  /** Whether the search attributes were found usable (decided where the program starts). */
  searchAttributes: boolean;
  logger: Logger;
  /** The bundle made by scripts/bundle-workflows.js; without it the workflows are bundled at start, which takes seconds. */
  workflowBundle?: WorkflowBundleOption;
  dataConverter?: DataConverter;
  /** For Temporal's Worker Versioning; without it the worker takes any work of its queue. */
  version?: WorkerVersion | undefined;
  identity?: string;
};

/** Activities wait for other machines nearly all of their time, so many of them cost little. */
const ACTIVITIES = 100;
const WORKFLOW_TASKS = 40;

/**
 * Workflows kept in memory. Each takes about 1.6 MB; the SDK's own number would let 10,000 sites fill the whole heap. The
 * others are replayed at their next turn, and their histories are short.
 */
const CACHED_WORKFLOWS = 500;

/** What runs at a stop has this long to end; it is repeated elsewhere by then, so nothing is lost by a shorter one. */
const SHUTDOWN_GRACE = '8s';

/**
 * Makes the worker that runs every workflow and activity of the orchestrator. `worker.run()` resolves after
 * `worker.shutdown()`, once what was running has ended or been handed back.
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
    // A killed worker's workflows would otherwise wait 10 s for it before another one is asked.
    stickyQueueScheduleToStartTimeout: '2s',
    // Heartbeats are what notices a killed worker (within 5 s) and what shows progress: they mustn't be saved up.
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
