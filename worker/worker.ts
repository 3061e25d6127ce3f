import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { type DataConverter, type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { type ActivityDeps, createActivities } from '../activities/create-activities.ts';
import { createMailer, type Mailer } from '../activities/reviewers/mailer.ts';
import type { SiteConfig } from '../contract/galley-config.ts';
import { TASK_QUEUES } from '../contract/names.ts';
import { announceConfiguration } from './announce-configuration.ts';
import { announcePins, type WatchedFile } from './announce-pins.ts';

export type OrchestratorWorkerDeps = {
  connection: NativeConnection;
  /** Tells running workflows that their configuration may have changed; without it they find out by themselves. */
  client?: Client;
  namespace?: string;
  taskQueue?: string;
  /** The site's section of the current configuration; undefined where it isn't (or no longer) configured. */
  readSite: (site: string) => SiteConfig | undefined | Promise<SiteConfig | undefined>;
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
  /** Whether the search attributes were found usable (decided where the program starts). */
  searchAttributes: boolean;
  logger: Logger;
  /** The bundle made by scripts/bundle-workflows.js; without it the workflows are bundled at start, which takes seconds. */
  workflowBundle?: WorkflowBundleOption;
  dataConverter?: DataConverter;
  identity?: string;
};

/** Activities wait for other machines nearly all of their time, so many of them cost little. */
const ACTIVITIES = 100;
const WORKFLOW_TASKS = 40;

/** What runs at a stop has this long to end; it is repeated elsewhere by then, so nothing is lost by a shorter one. */
const SHUTDOWN_GRACE = '8s';

/**
 * Makes the worker that runs every workflow and activity of the orchestrator. `worker.run()` resolves after
 * `worker.shutdown()`, once what was running has ended or been handed back.
 */
export async function createOrchestratorWorker(deps: OrchestratorWorkerDeps): Promise<Worker> {
  const { connection, client, logger, dataConverter, identity, workflowBundle } = deps;
  const { readSite, adminApi, minRefreshIntervalMs, searchAttributes, operators, forge, publicUrl } = deps;
  const build = await buildOf(workflowBundle);
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
      build,
      logger,
      mailer,
      forge,
      publicUrl,
      client,
      ...(operators === undefined ? {} : { operators }),
    }),
    ...(workflowBundle === undefined ? { workflowsPath: workflowsPath() } : { workflowBundle }),
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
  });
  if (mailer) closeWhenEnded(worker, mailer);
  if (client) {
    void announceConfiguration(client, logger);
    void announcePins({ client, logger, files: deps.deployments ?? [], ended: () => hasEnded(worker) });
  }
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

/** Tells one build of the workflow code from another, so that runs of an old one continue as new. */
async function buildOf(bundle: WorkflowBundleOption | undefined): Promise<string> {
  if (bundle === undefined) return 'unbundled';
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  return createHash('sha256').update(code).digest('hex').slice(0, 16);
}

function workflowsPath(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`../workflows/index.${extension}`, import.meta.url));
}
