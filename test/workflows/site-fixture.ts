import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { SiteConfig } from '../../contract/galley-config.ts';
import { QUERIES, SIGNALS, WORKFLOW_IDS } from '../../contract/names.ts';
import type { PublishedSignal } from '../../contract/publish-event.ts';
import { type SiteState, siteState } from '../../contract/site-state.ts';
import type { WorkerVersion } from '../../contract/worker-options.ts';
import { galleyConfig } from '../../programs/config/galley-yaml.ts';
import { exportSite } from '../../workflows/export-site.ts';
import type { RunningAdminApi } from '../helpers/admin-api/fake-admin-api.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteWorker } from './site-worker.ts';
import { untilState, type WorkflowServer } from './use-temporal.ts';

/** A site with a real worker, a fake Admin API and a values file in its own folder. */
export type SiteFixture = {
  site: string;
  api: Omit<RunningAdminApi, 'close'>;
  handle: WorkflowHandle<typeof exportSite>;
  valuesFile: string;
  /** As a worker has it. */
  readSite(site: string): SiteConfig | undefined;
  /** Changes the configuration, as of the next time it is read. Undefined removes the site from it. */
  configure(settings: Record<string, unknown> | undefined): void;
  /** Renames the site in the configuration. From then on, the fixture is about the workflow of the new name. */
  renameInConfiguration(to: string): void;
  publish(options?: { id?: string; title?: string; dedupeMs?: number }): Promise<void>;
  /** Publishes until the workflow continues as new because of its long history, which takes many seconds. */
  continueAsNew(): Promise<void>;
  /** Replaces the worker, which other fixtures may share, by a new build, and publishes until the workflow is in it. */
  continueInNewBuild(): Promise<void>;
  /** Starts the workflow without a publish. */
  start(): Promise<void>;
  state(): Promise<SiteState>;
  /** Polls the state until `holds` is true. */
  until(description: string, holds: (state: SiteState) => boolean): Promise<SiteState>;
  /** The parts of the link in the values file. */
  deployed(): Promise<{ jobId: string; content: number; expiresAtMs: number } | null>;
  workflowIds(): string[];
  startWorker(options?: { workflowBundle?: WorkflowBundleOption; version?: WorkerVersion }): Promise<void>;
  /** Starts another worker on the same task queue, with a galley.yaml without sites. */
  startStranger(): Promise<{ stop(): Promise<void> }>;
  /** Shuts the worker down gracefully, as for a deployment of a new release. */
  stopWorker(): Promise<void>;
  close(): Promise<void>;
};

export type SiteFixtureOptions = {
  server: WorkflowServer;
  /** Fixtures may share a worker. */
  worker: SiteWorker;
  settings?: Record<string, unknown>;
};

let fixtures = 0;

/** The same limit as in workflows/entity/continue-as-new.ts. */
const LONG_HISTORY_EVENTS = 1_000;

export async function startSiteFixture(options: SiteFixtureOptions): Promise<SiteFixture> {
  const { server, worker, settings = {} } = options;
  let site = `site-${process.pid}-${++fixtures}`;
  const folder = await mkdtemp(join(tmpdir(), 'galley-site-'));
  const valuesFile = join(folder, 'values.yaml');
  const domain = `${site}.example.com`;
  let workflowId = WORKFLOW_IDS.exportSite(site);
  const workflowIds = new Set([workflowId]);
  const { workflow } = server.client;
  const { taskQueue } = worker;
  const api = worker.serve(site, domain, () => config);
  let config: SiteConfig | undefined;
  let published = 0;
  const untilOtherRun = async (runId: string): Promise<void> => {
    const isOther = async () => (await fixture.handle.describe()).runId !== runId;
    await waitFor(isOther, { describe: 'continued as new' });
  };

  const fixture: SiteFixture = {
    site,
    api,
    valuesFile,
    handle: workflow.getHandle<typeof exportSite>(workflowId),
    readSite: (name) => (name === site ? config : undefined),
    configure(settings) {
      config = settings && parseSite(domain, { deployments: [{ valuesFile }], ...settings });
    },
    renameInConfiguration(to) {
      worker.rename(site, to);
      site = to;
      workflowId = WORKFLOW_IDS.exportSite(site);
      workflowIds.add(workflowId);
      Object.assign(fixture, { site, handle: workflow.getHandle<typeof exportSite>(workflowId) });
    },
    async publish({ id, title = 'A page', dedupeMs = 86_400_000 } = {}) {
      const number = ++published;
      const receivedAt = new Date(await server.now()).toISOString();
      const event = { source: 'test', topic: 'entry.publish', action: 'publish', url: '', author: '' } as const;
      const signal: PublishedSignal = {
        deliveries: [{ id: id ?? `delivery-${number}`, source: 'test', receivedAt, dedupeMs }],
        newest: { ...event, id: `entry-${number}`, title, at: receivedAt },
      };
      await workflow.signalWithStart(exportSite, {
        workflowId,
        taskQueue,
        args: [{ site }],
        signal: SIGNALS.published,
        signalArgs: [signal],
      });
    },
    async continueAsNew() {
      const { runId } = await fixture.handle.describe();
      // More concurrent signals would exceed Temporal's buffer for one workflow.
      for (let count = 0; count < LONG_HISTORY_EVENTS; count += 10) {
        await Promise.all(Array.from({ length: 10 }, () => fixture.publish()));
      }
      await untilOtherRun(runId);
    },
    async continueInNewBuild() {
      const { runId } = await fixture.handle.describe();
      await worker.startNewBuild();
      await fixture.publish();
      await untilOtherRun(runId);
    },
    async start() {
      await workflow.start(exportSite, { workflowId, taskQueue, args: [{ site }] });
    },
    async state() {
      return siteState.parse(await fixture.handle.query(QUERIES.state));
    },
    async until(description, holds) {
      return await untilState({ server, description, read: fixture.state, holds });
    },
    async deployed() {
      const text = await readFile(valuesFile, 'utf8').catch(() => '');
      const [, jobId, content, expires] =
        /objects\.test\/(\w+)\/bundle\.tar\.gz\?content=(\d+)&expires=(\d+)/.exec(text) ?? [];
      return jobId ? { jobId, content: Number(content), expiresAtMs: Number(expires) } : null;
    },
    workflowIds: () => [...workflowIds],
    startWorker: (started) => worker.start(started),
    startStranger: () => worker.startStranger(),
    stopWorker: () => worker.stop(),
    async close() {
      await fixture.handle.terminate('the test is over').catch(() => {});
      // A write that is still running may add a file.
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  fixture.configure(settings);
  await fixture.startWorker();
  return fixture;
}

function parseSite(domain: string, settings: Record<string, unknown>): SiteConfig {
  const config = galleyConfig.parse({
    adminApi: { url: 'http://127.0.0.1', key: 'unused' },
    sites: { docs: { domain, export: { quietPeriod: '200ms', maxWait: '2s', ...settings } } },
  });
  const { docs } = config.sites;
  if (!docs) throw new Error('The configuration has no site');
  return docs;
}
