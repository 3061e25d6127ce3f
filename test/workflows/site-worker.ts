import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Client } from '@temporalio/client';
import type { NativeConnection, WorkflowBundleOption } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import type { NotifyConfig, SiteConfig } from '../../contract/galley-config.ts';
import { TASK_QUEUES } from '../../contract/names.ts';
import type { WorkerVersion } from '../../contract/worker-version.ts';
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
  quickAsksMs?: readonly number[];
  /** The mail server, and who is told of trouble. */
  smtp?: { url: string; from: string };
  operators?: readonly string[];
  /** Asked for by each check of the watchdog. */
  heartbeatUrl?: string;
  /** The targets of notifications, and how patient their deliveries are. */
  notify?: NotifyConfig;
  timing?: Parameters<typeof createNotificationWorker>[0]['timing'];
};

export type SiteWorker = {
  taskQueue: string;
  /** From now on the site is configured as `read` says, and its exports are those of an Admin API of its own. */
  serve(site: string, domain: string, read: () => SiteConfig | undefined): Omit<RunningAdminApi, 'close'>;
  /** Does nothing while it runs. Without a bundle it runs the last one, at first the product's. */
  start(options?: { workflowBundle?: WorkflowBundleOption; version?: WorkerVersion }): Promise<void>;
  stop(): Promise<void>;
  /** Starts another worker on the same task queue, of another build and with a galley.yaml that has no site. */
  startStranger(): Promise<{ stop(): Promise<void> }>;
  /** Stops it and its Admin APIs for good. */
  close(): Promise<void>;
};

const started = z.object({ domain: z.string() });

let workers = 0;

/**
 * The orchestrator's worker, which many fixtures may share, one after another or at once: to start one takes a second of
 * processor time. Each call is told by the domain or the job that it names, so what an ended test left behind is never
 * counted in the next one.
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
    const made = await createOrchestratorWorker({
      ...shared,
      client,
      readSite,
      adminApi: { url, key: 'galley_test', ...(quickAsksMs ? { quickAsksMs } : {}) },
      minRefreshIntervalMs,
      searchAttributes,
      ...(smtp === undefined ? {} : { smtp, operators }),
      heartbeatUrl: options.heartbeatUrl,
      ...started,
    });
    if (options.notify === undefined) return runWorker(made);
    const running = [made, await createNotificationWorker({ ...shared, timing: options.timing })].map(runWorker);
    return { stop: async () => void (await Promise.all(running.map((worker) => worker.stop()))) };
  }

  const worker: SiteWorker = {
    taskQueue,
    serve(site, domain, read) {
      const prefix = `se_${String(apis.size + 1).padStart(8, '0')}`;
      const made = createFakeAdminApi({ clock, jobId: (number) => prefix + String(number).padStart(8, '0') });
      sites.set(site, read);
      apis.set(domain, made);
      return { ...made, url };
    },
    async start({ workflowBundle = bundle, version } = {}) {
      bundle = workflowBundle;
      running ??= run((site) => sites.get(site)?.(), { workflowBundle, version });
      await running;
    },
    async startStranger() {
      // One process may run only one worker of a build for a task queue.
      const code = await readFile(workflowBundles.orchestrator.codePath, 'utf8');
      return await run(() => undefined, { workflowBundle: { code: `// another build\n${code}` } });
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
