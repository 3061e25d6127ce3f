import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Logger, pino } from 'pino';
import { type ExportReport, exportReport } from '../../contract/admin-api.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { projectSettings } from '../../platform/project-settings.ts';
import { type Database, openDatabase } from '../../platform/store/database.ts';
import { type ExportJobRow, getExportJob, insertExportJob } from '../../platform/store/export-jobs.ts';
import { ensureOrganization } from '../../platform/store/organizations.ts';
import { insertProject } from '../../platform/store/projects.ts';
import { readBundleArchive } from './read-bundle.ts';
import type { TestDatabase } from './test-database.ts';

export type ExportedBundle = {
  row: ExportJobRow;
  manifest: BundleManifest;
  /** Text of every file by path. */
  files: Map<string, string>;
  report: ExportReport;
};

/** A database and an object store, with the API's operations before and after an export. */
export type ExportStores = {
  db: Database;
  objects: ObjectStore;
  objectStoreUrl: string;
  organizationId: string;
  logger: Logger;
  addProject(origin: string, settings?: Record<string, unknown>): Promise<string>;
  addJob(projectId: string, paths?: string[] | null, domain?: string): Promise<string>;
  /** Reads the bundle of a completed job. Throws if the job has not completed. */
  read(jobId: string): Promise<ExportedBundle>;
  keys(prefix: string): Promise<string[]>;
  stop(): Promise<void>;
};

/** `objects`: the URL of the object store. By default a new folder. */
export async function openExportStores(
  database: TestDatabase,
  given: { objects?: string } = {},
): Promise<ExportStores> {
  const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const folder = await mkdtemp(join(tmpdir(), 'galley-export-'));
  const objectStoreUrl = given.objects ?? pathToFileURL(folder).href;
  const db = await openDatabase({ url: database.url, maxConnections: database.maxConnections, logger });
  const objects = await createObjectStore({ url: objectStoreUrl });
  const organization = await ensureOrganization(db, { name: 'test', plan: 'enterprise' });
  const organizationId = organization.id;
  return {
    ...{ db, objects, objectStoreUrl, organizationId, logger },
    async addProject(origin, settings = {}) {
      const id = `prj_${randomBytes(8).toString('hex')}`;
      const domain = `${randomBytes(6).toString('hex')}.unused.example`;
      const row = { id, organizationId, domain, origin, repository: null, ref: null };
      await insertProject(db, { ...row, settings: projectSettings.parse(settings) });
      return id;
    },
    async addJob(projectId, paths = null, domain = 'docs.example.com') {
      const job = { organizationId, projectId, domain, version: null, paths, at: new Date() };
      return (await db.transaction((tx) => insertExportJob(tx, job))).id;
    },
    async read(jobId) {
      const row = await getExportJob(db, jobId);
      if (row?.status !== 'completed') throw new Error(`${jobId} is ${row?.status}: ${row?.error}`);
      const bundle = await readBundleArchive(await objects.read(row.archiveKey ?? ''));
      const report = exportReport.parse(JSON.parse(String(await objects.read(row.reportKey ?? ''))));
      return { row, ...bundle, report };
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
