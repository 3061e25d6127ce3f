import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Client } from '@temporalio/client';
import type { NativeConnection, WorkflowBundleOption } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import type { NotifyConfig, SiteConfig } from '../../contract/galley-config.ts';
import { TASK_QUEUES } from '../../contract/names.ts';
import type { WorkerVersion } from '../../contract/worker-options.ts';
import { createNotificationWorker, createOrchestratorWorker } from '../../worker/worker.ts';
import { createFakeAdminApi, type FakeAdminApi, type RunningAdminApi } from '../helpers/admin-api/fake-admin-api.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

export type SiteWorkerOptions = {
  client: Client;
  connection: NativeConnection;
  clock?: () => number | Promise<number>;
  searchAttributes?: boolean;
  minRefreshIntervalMs?: number;
  /** As galley.yaml has it. */
  startsPerHour?: number;
  quickAsksMs?: readonly number[];
  /** The mail server, and the addresses that get mails about failures. */
  smtp?: { url: string; from: string };
  operators?: readonly string[];
  /** Each check of the watchdog requests this URL. */
  heartbeatUrl?: string;
  /** The notification targets, and the timeouts of their deliveries. */
  notify?: NotifyConfig;
  timing?: Parameters<typeof createNotificationWorker>[0]['timing'];
  targets?: Parameters<typeof createOrchestratorWorker>[0]['targets'];
};

export type SiteWorker = {
  taskQueue: string;
  /** Adds a site with this configuration and its own fake Admin API. */
  serve(site: string, domain: string, read: () => SiteConfig | undefined): Omit<RunningAdminApi, 'close'>;
  /** Gives a site another name in the configuration. */
  rename(site: string, to: string): void;
  /** Does nothing if it already runs. Without a bundle it uses the previous one, at first the product's. */
  start(options?: { workflowBundle?: WorkflowBundleOption; version?: WorkerVersion }): Promise<void>;
  stop(): Promise<void>;
  /** Replaces it by one with another build, so that runs of the previous build continue as new. */
  startNewBuild(): Promise<void>;
  /** Starts another worker on the same task queue, with another build and a galley.yaml without sites. */
  startStranger(): Promise<{ stop(): Promise<void> }>;
  /** Stops the worker and its Admin APIs. */
  close(): Promise<void>;
};

const started = z.object({ domain: z.string() });

let workers = 0;
let builds = 0;

/**
 * The orchestrator's worker, which many fixtures may share, because starting one takes a second of CPU time. A call
 * reaches the Admin API of the domain or job that it names, so leftovers of one test never affect another test.
 */
export async function createSiteWorker(options: SiteWorkerOptions): Promise<SiteWorker> {
  const { client, connection, clock = Date.now, smtp, operators = [], quickAsksMs } = options;
  const { minRefreshIntervalMs = 1_000, searchAttributes = false } = options;
  const taskQueue = `${TASK_QUEUES.orchestrator}-${process.pid}-${++workers}`;
  const sites = new Map<string, () => SiteConfig | undefined>();
  const apis = new Map<string, FakeAdminApi>();
  let running: Promise<{ stop(): Promise<void> }> | undefined;
  let bundle: WorkflowBundleOption = workflowBundles.orchestrator;

  function apiOf(request: IncomingMessage, body: string): FakeAdminApi | undefined {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    const [, jobId] = /^\/v1\/static-export\/jobs\/([^/]+)/.exec(pathname) ?? [];
    if (jobId !== undefined) return [...apis.values()].find(({ jobs }) => jobs.some((job) => job.jobId === jobId));
    if (request.method !== 'POST') return apis.get(searchParams.get('domain') ?? '');
    return apis.get(started.parse(JSON.parse(body)).domain);
  }
  const { origin: url, close } = await startHttpSite(async (request, response) => {
    const body = await text(request);
    const api = apiOf(request, body);
    if (api === undefined) response.writeHead(404).end('{"error":"no such job"}');
    else await api.handle(request, response, body);
  });

  async function run(
    readSite: (site: string) => SiteConfig | undefined,
    started: { workflowBundle: WorkflowBundleOption; version?: WorkerVersion | undefined },
  ): Promise<{ stop(): Promise<void> }> {
    const logger = pino({ level: 'silent' });
    const { namespace } = client.options;
    const shared = { connection, namespace, taskQueue, logger, notify: options.notify };
    const created = await createOrchestratorWorker({
      ...shared,
      client,
      readSite,
      adminApi: {
        url,
        key: 'galley_test',
        startsPerHour: options.startsPerHour,
        ...(quickAsksMs ? { quickAsksMs } : {}),
      },
      minRefreshIntervalMs,
      searchAttributes,
      ...(smtp === undefined ? {} : { smtp, operators }),
      heartbeatUrl: options.heartbeatUrl,
      targets: options.targets,
      ...started,
    });
    if (options.notify === undefined) return runWorker(created);
    const running = [created, await createNotificationWorker({ ...shared, timing: options.timing })].map(runWorker);
    return { stop: async () => void (await Promise.all(running.map((worker) => worker.stop()))) };
  }

  const worker: SiteWorker = {
    taskQueue,
    serve(site, domain, read) {
      const prefix = `se_${String(apis.size + 1).padStart(8, '0')}`;
      const created = createFakeAdminApi({ clock, jobId: (number) => prefix + String(number).padStart(8, '0') });
      sites.set(site, read);
      apis.set(domain, created);
      return { ...created, url };
    },
    rename(site, to) {
      const read = sites.get(site);
      if (read === undefined) throw new Error(`there is no site ${site}`);
      sites.delete(site);
      sites.set(to, read);
    },
    async start({ workflowBundle = bundle, version } = {}) {
      bundle = workflowBundle;
      running ??= run((site) => sites.get(site)?.(), { workflowBundle, version });
      await running;
    },
    async startNewBuild() {
      await worker.stop();
      await worker.start({ workflowBundle: await newBuild() });
    },
    async startStranger() {
      // One process may run only one worker of a build for a task queue.
      return await run(() => undefined, { workflowBundle: await newBuild() });
    },
    async stop() {
      const stopped = running;
      running = undefined;
      await (await stopped)?.stop();
    },
    async close() {
      await worker.stop();
      await close();
    },
  };
  return worker;
}

/** The product's workflows under a build id of their own, which the SDK derives from the code. */
async function newBuild(): Promise<WorkflowBundleOption> {
  const code = await readFile(workflowBundles.orchestrator.codePath, 'utf8');
  // Inserted before the code, because text after it would become part of the source map.
  return { code: `// build ${++builds}\n${code}` };
}
