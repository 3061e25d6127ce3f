import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, Runtime, type WorkflowBundleOption } from '@temporalio/worker';
import { galleyConfig, type SiteConfig } from '../../contract/galley-config.ts';
import { QUERIES, SIGNALS, WORKFLOW_IDS } from '../../contract/names.ts';
import type { PublishedSignal } from '../../contract/publish-event.ts';
import { type SiteState, siteState } from '../../contract/site-state.ts';
import { exportSite } from '../../workflows/export-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { createSiteWorker, type SiteWorker, type SiteWorkerOptions } from './site-worker.ts';
import type { SmallAdminApi } from './small-admin-api.ts';

/** Everything one site needs, on real parts: a worker, an Admin API and a values file in a folder of its own. */
export type SiteBench = {
  site: string;
  api: Omit<SmallAdminApi, 'close'>;
  handle: WorkflowHandle<typeof exportSite>;
  valuesFile: string;
  /** What the next reading of the configuration finds; undefined removes the site. */
  configure(settings: Record<string, unknown> | undefined): void;
  publish(options?: { id?: string; title?: string; dedupeMs?: number }): Promise<void>;
  /** Starts the workflow without a publish. */
  start(): Promise<void>;
  state(): Promise<SiteState>;
  /** Polls the state until it is as described. */
  until(description: string, holds: (state: SiteState) => boolean): Promise<SiteState>;
  /** The link in the values file, taken apart. */
  deployed(): Promise<{ jobId: string; content: number; expiresAtMs: number } | null>;
  startWorker(options?: { workflowBundle?: WorkflowBundleOption }): Promise<void>;
  /** Stops the worker as a deployment of a new release does: what runs is handed back. */
  stopWorker(): Promise<void>;
  close(): Promise<void>;
};

export type SiteBenchOptions = Omit<SiteWorkerOptions, 'deployments'> & {
  settings?: Record<string, unknown>;
  /** Whether the worker watches the values file for an operator's pin. */
  watchPins?: boolean;
  /** Shared with other benches, and closed by whoever made it; without it the bench has one of its own. */
  worker?: SiteWorker;
};

// Failing activities are what these tests are about; the SDK would log each of them.
Runtime.install({ logger: new DefaultLogger('ERROR') });

let benches = 0;

export async function startSiteBench(options: SiteBenchOptions): Promise<SiteBench> {
  const site = `site-${process.pid}-${++benches}`;
  const folder = await mkdtemp(join(tmpdir(), 'galley-site-'));
  const valuesFile = join(folder, 'values.yaml');
  const clock = options.clock ?? Date.now;
  const domain = `${site}.example.com`;
  const deployments = options.watchPins ? [{ site, valuesFile }] : [];
  const worker = options.worker ?? (await createSiteWorker({ ...options, deployments }));
  const { taskQueue } = worker;
  const api = worker.serve(site, domain, () => config);
  let config: SiteConfig | undefined;
  let published = 0;

  const bench: SiteBench = {
    site,
    api,
    valuesFile,
    handle: options.client.workflow.getHandle<typeof exportSite>(WORKFLOW_IDS.exportSite(site)),
    configure(settings) {
      config = settings && parseSite(domain, { deployments: [{ valuesFile }], ...settings });
    },
    async publish({ id, title = 'A page', dedupeMs = 86_400_000 } = {}) {
      published++;
      const receivedAt = new Date(await clock()).toISOString();
      const event = { source: 'test', topic: 'entry.publish', action: 'publish', url: '', author: '' } as const;
      const signal: PublishedSignal = {
        deliveries: [{ id: id ?? `delivery-${published}`, source: 'test', receivedAt, dedupeMs }],
        newest: { ...event, id: `entry-${published}`, title, at: receivedAt },
      };
      await options.client.workflow.signalWithStart(exportSite, {
        workflowId: WORKFLOW_IDS.exportSite(site),
        taskQueue,
        args: [{ site }],
        signal: SIGNALS.published,
        signalArgs: [signal],
      });
    },
    async start() {
      const workflowId = WORKFLOW_IDS.exportSite(site);
      await options.client.workflow.start(exportSite, { workflowId, taskQueue, args: [{ site }] });
    },
    async state() {
      return siteState.parse(await bench.handle.query(QUERIES.state));
    },
    async until(description, holds) {
      const probe = async (): Promise<SiteState> => {
        const state = await bench.state();
        if (holds(state)) return state;
        throw new Error(JSON.stringify(state));
      };
      return await waitFor(probe, { describe: description });
    },
    async deployed() {
      const text = await readFile(valuesFile, 'utf8').catch(() => '');
      const [, jobId, content, expires] =
        /objects\.test\/(\w+)\/bundle\.tar\.gz\?content=(\d+)&expires=(\d+)/.exec(text) ?? [];
      return jobId ? { jobId, content: Number(content), expiresAtMs: Number(expires) } : null;
    },
    startWorker: (started) => worker.start(started),
    stopWorker: () => worker.stop(),
    async close() {
      await bench.handle.terminate('the test is over').catch(() => {});
      if (options.worker === undefined) await worker.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  bench.configure(options.settings ?? {});
  await bench.startWorker();
  return bench;
}

function parseSite(domain: string, settings: Record<string, unknown>): SiteConfig {
  const config = galleyConfig.parse({
    adminApi: { url: 'http://127.0.0.1', key: 'unused' },
    sites: { docs: { domain, export: { quietPeriod: '200ms', maxWait: '2s', ...settings } } },
  });
  const { docs } = config.sites;
  if (!docs) throw new Error('no site');
  return docs;
}
