import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { exportReport } from '../../contract/admin-api.ts';
import {
  createPlatformActivities,
  type PlatformActivities,
} from '../../platform/activities/create-platform-activities.ts';
import type { ExportLimits } from '../../platform/activities/export/limits.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { projectSettings } from '../../platform/project-settings.ts';
import { type Database, openDatabase } from '../../platform/store/database.ts';
import { getExportJob, insertExportJob } from '../../platform/store/export-jobs.ts';
import { ensureOrganization } from '../../platform/store/organizations.ts';
import { insertProject } from '../../platform/store/projects.ts';
import type { ExportedBundle } from './export-rig.ts';
import { readBundleArchive } from './read-bundle.ts';
import { createDatabase } from './test-database.ts';

export type DirectRig = {
  db: Database;
  objects: ObjectStore;
  organizationId: string;
  addProject(origin: string, settings?: Record<string, unknown>): Promise<string>;
  addJob(projectId: string, paths?: string[] | null): Promise<string>;
  /** The stages of a job up to one of them, in this process. The job fails where one throws, as its workflow sees to. */
  runStages(jobId: string, options?: StageOptions): Promise<void>;
  /** A whole export of a project, cleared up behind. */
  run(projectId: string, options?: { paths?: string[]; limits?: Partial<ExportLimits> }): Promise<ExportedBundle>;
  read(jobId: string): Promise<ExportedBundle>;
  keys(prefix: string): Promise<string[]>;
  stop(): Promise<void>;
};

const STAGES = ['open', 'crawl', 'freeze', 'rewrite', 'pack', 'clean up'] as const;
export type Stage = (typeof STAGES)[number];

export type StageOptions = {
  until?: Stage;
  limits?: Partial<ExportLimits>;
  /** Runs around each stage, to measure it or to disturb it. */
  around?: (stage: Stage, work: () => Promise<unknown>) => Promise<unknown>;
};

/** Exports by calling the activities one after another: what the workflow does, without Temporal's time. */
export async function startDirectRig(
  limits: Partial<ExportLimits> = {},
  given: { objects?: string } = {},
): Promise<DirectRig> {
  const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const folder = await mkdtemp(join(tmpdir(), 'galley-direct-'));
  const database = await createDatabase();
  const db = await openDatabase({ url: database.url, maxConnections: database.maxConnections, logger });
  const objects = await createObjectStore({ url: given.objects ?? pathToFileURL(folder).href });
  const organization = await ensureOrganization(db, { name: 'test', plan: 'enterprise', defaultPlan: 'enterprise' });
  const organizationId = organization.id;

  async function addProject(origin: string, settings: Record<string, unknown> = {}): Promise<string> {
    const id = `prj_${randomBytes(8).toString('hex')}`;
    const domain = `${randomBytes(6).toString('hex')}.unused.example`;
    const row = { id, organizationId, domain, origin, repository: null, ref: null };
    await insertProject(db, { ...row, settings: projectSettings.parse(settings) });
    return id;
  }

  async function addJob(projectId: string, paths: string[] | null = null): Promise<string> {
    const job = { organizationId, projectId, domain: 'docs.example.com', version: null, paths, at: new Date() };
    return (await db.transaction((tx) => insertExportJob(tx, job))).id;
  }

  async function runStages(
    jobId: string,
    { until = 'clean up', limits: own = {}, around = (_stage, work) => work() }: StageOptions = {},
  ): Promise<void> {
    const activities = createPlatformActivities({ db, objects, logger, limits: { ...limits, ...own } });
    let archiveKey: string | null = null;
    const stages: Record<Stage, () => Promise<unknown>> = {
      open: () => activities.openExport({ jobId }),
      crawl: () => untilDone(() => activities.crawlSite({ jobId, maxMs: 60_000 })),
      freeze: () => activities.freezeExport({ jobId }),
      rewrite: () => untilDone(() => activities.rewriteFiles({ jobId })),
      pack: async () => {
        archiveKey = (await activities.packExport({ jobId })).archiveKey;
      },
      'clean up': () => activities.cleanUpExport({ jobId, archiveKey }),
    };
    try {
      for (const stage of STAGES.slice(0, STAGES.indexOf(until) + 1))
        await around(stage, () => inActivity(stages[stage]));
    } catch (error) {
      await fail(activities, jobId, error);
    }
  }

  async function fail(activities: PlatformActivities, jobId: string, error: unknown): Promise<void> {
    await inActivity(() => activities.failExport({ jobId, error: String(error) }));
    await inActivity(() => activities.cleanUpExport({ jobId, archiveKey: null }));
  }

  async function read(jobId: string): Promise<ExportedBundle> {
    const row = await getExportJob(db, jobId);
    if (row?.status !== 'completed') throw new Error(`${jobId} is ${row?.status}: ${row?.error}`);
    const bundle = await readBundleArchive(await objects.read(row.archiveKey ?? ''));
    const report = exportReport.parse(JSON.parse(String(await objects.read(row.reportKey ?? ''))));
    return { row, ...bundle, report };
  }

  return {
    db,
    objects,
    organizationId,
    addProject,
    addJob,
    runStages,
    read,
    async run(projectId, { paths, ...options } = {}) {
      const jobId = await addJob(projectId, paths);
      await runStages(jobId, options);
      return read(jobId);
    },
    async keys(prefix) {
      const keys: string[] = [];
      for await (const key of objects.list(prefix)) keys.push(key);
      return keys;
    },
    async stop() {
      await objects.close();
      await db.close();
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function inActivity(work: () => Promise<unknown>): Promise<unknown> {
  return new MockActivityEnvironment({
    workflowExecution: { workflowId: 'w', runId: randomBytes(6).toString('hex') },
  }).run(work);
}

async function untilDone(round: () => Promise<{ done: boolean }>): Promise<void> {
  while (!(await round()).done);
}
