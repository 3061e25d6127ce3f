import { TASK_QUEUES, WORKFLOW_TYPES } from '../../contract/names.ts';
import type { ExportLimits } from '../../exporter/limits.ts';
import type { Prover, Renderer } from '../../exporter/ports.ts';
import { type ExportJobRow, getExportJob } from '../../platform/store/export-jobs.ts';
import { createPlatformWorker } from '../../platform/worker.ts';
import { recordNamespace } from '../replay/record-runs.ts';
import { type ExportedBundle, type ExportStores, openExportStores } from './export-stores.ts';
import { runWorker } from './run-worker.ts';
import { connectTemporal, type TestTemporal } from './temporal.ts';
import type { TestDatabase } from './test-database.ts';
import { workflowBundles } from './workflow-bundles.ts';

export type { ExportedBundle } from './export-stores.ts';

export type TestSite = {
  origin: string;
  domain?: string;
  settings?: Record<string, unknown>;
  paths?: string[];
  /** The project of an earlier job. By default a new project. */
  projectId?: string;
};

export type ExportRig = ExportStores & {
  /** The connection options with which another process can run the same exports. */
  addresses: { databaseUrl: string; objectStoreUrl: string; temporalAddress: string; temporalNamespace: string };
  temporal: TestTemporal;
  /** Adds a job, as the API does, and starts its workflow. */
  start(site: TestSite): Promise<string>;
  /** Waits for a job's workflow and reads its row. */
  end(jobId: string): Promise<ExportJobRow>;
  /** `start`, `end` and `read`. Throws unless the job completes. */
  run(site: TestSite): Promise<ExportedBundle>;
  /** Runs a worker on the queue until `stop`. */
  startWorker(limits?: Partial<ExportLimits>, browser?: Renderer, prover?: Prover): Promise<{ stop(): Promise<void> }>;
};

/**
 * Everything that an export needs except workers: a database, an object store (a new folder by default) and a Temporal
 * dev server (the shared one by default).
 */
export async function startExportRig(
  database: TestDatabase,
  given: { objects?: string; temporal?: TestTemporal } = {},
): Promise<ExportRig> {
  const stores = await openExportStores(database, given);
  const { db } = stores;
  const temporal = given.temporal ?? (await connectTemporal());
  const stops: Array<() => Promise<void>> = [];

  async function start({ origin, settings, domain, paths, projectId }: TestSite): Promise<string> {
    const jobId = await stores.addJob(projectId ?? (await stores.addProject(origin, settings)), paths, domain);
    await temporal.client.workflow.start(WORKFLOW_TYPES.staticExportJob, {
      workflowId: jobId,
      taskQueue: TASK_QUEUES.platform,
      args: [{ jobId }],
    });
    return jobId;
  }

  async function end(jobId: string): Promise<ExportJobRow> {
    await temporal.client.workflow
      .getHandle(jobId)
      .result()
      .catch(() => undefined);
    const row = await getExportJob(db, jobId);
    if (row === undefined) throw new Error(`There is no job ${jobId}`);
    return row;
  }

  return {
    ...stores,
    addresses: {
      databaseUrl: database.url,
      objectStoreUrl: stores.objectStoreUrl,
      temporalAddress: temporal.address,
      temporalNamespace: temporal.namespace,
    },
    temporal,
    start,
    end,
    run: async (site) => {
      const jobId = await start(site);
      await end(jobId);
      return stores.read(jobId);
    },
    startWorker: async (limits = {}, browser, prover) => {
      const worker = await createPlatformWorker({
        connection: temporal.nativeConnection,
        namespace: temporal.namespace,
        db,
        objects: stores.objects,
        logger: stores.logger,
        limits,
        ...(browser && { browser }),
        prover,
        searchAttributes: true,
        workflowBundle: workflowBundles.platform,
        shutdownForceTime: '110s',
      });
      const running = runWorker(worker);
      stops.push(running.stop);
      return running;
    },
    stop: async () => {
      for (const stop of stops) await stop();
      await recordNamespace(temporal.client);
      await temporal.stop();
      await stores.stop();
    },
  };
}
