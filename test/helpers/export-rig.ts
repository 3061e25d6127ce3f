import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { type ExportReport, exportReport } from '../../contract/admin-api.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../../contract/names.ts';
import type { BrowserPool } from '../../platform/activities/export/browser/browser-pool.ts';
import type { ExportLimits } from '../../platform/activities/export/limits.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import { bundleKey, type ObjectStore } from '../../platform/objects/object-store.ts';
import { projectSettings } from '../../platform/project-settings.ts';
import { type Database, openDatabase } from '../../platform/store/database.ts';
import { type ExportJobRow, getExportJob, insertExportJob } from '../../platform/store/export-jobs.ts';
import { ensureOrganization } from '../../platform/store/organizations.ts';
import { insertProject } from '../../platform/store/projects.ts';
import { createPlatformWorker } from '../../platform/worker.ts';
import { readBundleArchive } from './read-bundle.ts';
import { runWorker } from './run-worker.ts';
import { connectTemporal, type TestTemporal } from './temporal.ts';
import type { TestDatabase } from './test-database.ts';
import { workflowBundles } from './workflow-bundles.ts';

export type ExportedBundle = {
  row: ExportJobRow;
  manifest: BundleManifest;
  /** Text of every file by path. */
  files: Map<string, string>;
  report: ExportReport;
};

export type TestSite = {
  origin: string;
  domain?: string;
  settings?: Record<string, unknown>;
  paths?: string[];
  /** The project of an earlier job, to be exported once more; without it a new one. */
  projectId?: string;
};

export type ExportRig = {
  db: Database;
  objects: ObjectStore;
  /** What another process needs to work on the same exports. */
  addresses: { databaseUrl: string; objectStoreUrl: string; temporalAddress: string; temporalNamespace: string };
  temporal: TestTemporal;
  /** Adds a job, as the API does, and starts its workflow. */
  start(site: TestSite): Promise<string>;
  /** Waits for a job's workflow and reads its row. */
  end(jobId: string): Promise<ExportJobRow>;
  read(jobId: string): Promise<ExportedBundle>;
  /** `start`, `end` and `read`; throws unless the job completed. */
  run(site: TestSite): Promise<ExportedBundle>;
  /** Runs workers on the queue until `stop`. */
  startWorker(limits?: Partial<ExportLimits>, browser?: BrowserPool): Promise<{ stop(): Promise<void> }>;
  stop(): Promise<void>;
};

/**
 * Everything an export needs but workers: a database, an object store (a folder of its own unless `objects` names
 * another) and a Temporal dev server (the shared one unless `temporal` is given).
 */
export async function startExportRig(
  database: TestDatabase,
  given: { objects?: string; temporal?: TestTemporal } = {},
): Promise<ExportRig> {
  const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const folder = await mkdtemp(join(tmpdir(), 'galley-export-'));
  const objectStoreUrl = given.objects ?? pathToFileURL(folder).href;
  const temporal = given.temporal ?? (await connectTemporal());
  const db = await openDatabase({ url: database.url, maxConnections: database.maxConnections, logger });
  const objects = await createObjectStore({ url: objectStoreUrl });
  const organization = await ensureOrganization(db, { name: 'test', plan: 'enterprise', defaultPlan: 'enterprise' });
  const stops: Array<() => Promise<void>> = [];

  async function addProject({ origin, settings = {} }: TestSite): Promise<string> {
    const project = await insertProject(db, {
      id: `prj_${randomBytes(8).toString('hex')}`,
      organizationId: organization.id,
      domain: `${randomBytes(6).toString('hex')}.unused.example`,
      origin,
      repository: null,
      ref: null,
      settings: projectSettings.parse(settings),
    });
    if (project === undefined) throw new Error('The project could not be added');
    return project.id;
  }

  async function start(site: TestSite): Promise<string> {
    const { domain = 'docs.example.com', paths, projectId = await addProject(site) } = site;
    const job = await db.transaction((tx) =>
      insertExportJob(tx, {
        organizationId: organization.id,
        projectId,
        domain,
        version: null,
        paths: paths ?? null,
        at: new Date(),
      }),
    );
    await temporal.client.workflow.start(WORKFLOW_TYPES.staticExportJob, {
      workflowId: job.id,
      taskQueue: TASK_QUEUES.platform,
      args: [{ jobId: job.id }],
    });
    return job.id;
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

  async function read(jobId: string): Promise<ExportedBundle> {
    const row = await getExportJob(db, jobId);
    if (row?.status !== 'completed') throw new Error(`${jobId} is ${row?.status}: ${row?.error}`);
    if (row.archiveSha256 === null || row.reportKey === null) throw new Error('the row names no archive');
    const bundle = await readBundleArchive(await objects.read(bundleKey(row.archiveSha256)));
    return { row, ...bundle, report: exportReport.parse(JSON.parse(String(await objects.read(row.reportKey)))) };
  }

  return {
    db,
    objects,
    addresses: {
      databaseUrl: database.url,
      objectStoreUrl,
      temporalAddress: temporal.address,
      temporalNamespace: temporal.namespace,
    },
    temporal,
    start,
    end,
    read,
    run: async (site) => {
      const jobId = await start(site);
      await end(jobId);
      return read(jobId);
    },
    startWorker: async (limits = {}, browser) => {
      const worker = await createPlatformWorker({
        connection: temporal.nativeConnection,
        namespace: temporal.namespace,
        db,
        objects,
        logger,
        limits,
        ...(browser && { browser }),
        searchAttributes: true,
        workflowBundle: workflowBundles.platform,
      });
      const running = runWorker(worker);
      stops.push(running.stop);
      return running;
    },
    stop: async () => {
      for (const stop of stops) await stop();
      await temporal.stop();
      await objects.close();
      await db.close();
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
