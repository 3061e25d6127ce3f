import { randomBytes } from 'node:crypto';
import pino from 'pino';
import type { FoundUrl } from '../../../exporter/crawl-records.ts';
import { projectSettings } from '../../../platform/project-settings.ts';
import { type AgentJobRow, insertAgentJob, type NewAgentJob } from '../../../platform/store/agent-jobs.ts';
import { openCrawl } from '../../../platform/store/crawls.ts';
import { type Database, openDatabase } from '../../../platform/store/database.ts';
import { failExportJob } from '../../../platform/store/export-job-transitions.ts';
import { type ExportJobRow, findActiveExportJob, insertExportJob } from '../../../platform/store/export-jobs.ts';
import { settleUrls } from '../../../platform/store/frontier.ts';
import { leaseUrls } from '../../../platform/store/frontier-leases.ts';
import { getProject } from '../../../platform/store/projects.ts';
import { organizations, projects } from '../../../platform/store/schema/organizations.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';

export type Owner = { organizationId: string; projectId: string; domain: string };

export type ExportJobInput = { version?: string; paths?: string[]; at?: Date };

export type StoreFixture = ReturnType<typeof useStores>;

export const leaseMs = 60_000;

/** A migrated database for the tests of the calling `describe`, with rows as the API creates them. */
export function useStores(start: () => Promise<TestDatabase>) {
  let server: TestDatabase;
  let db: Database;

  beforeAll(async () => {
    server = await start();
    db = await openDatabase({ ...server, logger: pino({ level: 'silent' }) });
  });
  afterAll(async () => {
    await db?.close();
    await server?.stop();
  });

  async function newProject(): Promise<Owner> {
    const name = randomBytes(6).toString('hex');
    const owner = { organizationId: `org_${name}`, projectId: `prj_${name}`, domain: `${name}.example.com` };
    const { organizationId, projectId: id, domain } = owner;
    await db.insert(organizations).values({ id: organizationId, name: `Organization ${name}`, plan: 'enterprise' });
    await db.insert(projects).values({ id, organizationId, domain, settings: projectSettings.parse({}) });
    return owner;
  }

  async function ownerOf(id: string): Promise<Owner> {
    const project = await getProject(db, id);
    if (project === undefined) throw new Error(`There is no project ${id}`);
    const { organizationId, domain } = project;
    return { organizationId, projectId: id, domain };
  }

  return {
    get db() {
      return db;
    },
    newProject,
    async newExportJob(owner?: Owner, { version, paths, at }: ExportJobInput = {}): Promise<ExportJobRow> {
      const project = owner ?? (await newProject());
      const job = { ...project, version: version ?? null, paths: paths ?? null, at: at ?? new Date() };
      return db.transaction((tx) => insertExportJob(tx, job));
    },
    /** A job that can start its crawl. A project has one active job at a time, so an earlier active one fails. */
    async newCrawlJob(projectId?: string): Promise<{ jobId: string; projectId: string }> {
      const owner = projectId === undefined ? await newProject() : await ownerOf(projectId);
      const active = await findActiveExportJob(db, owner.projectId);
      if (active !== undefined) await failExportJob(db, active.id, 'replaced');
      const job = { ...owner, version: null, paths: null, at: new Date() };
      const { id } = await db.transaction((tx) => insertExportJob(tx, job));
      return { jobId: id, projectId: owner.projectId };
    },
    /** An active job, of a new project by default. */
    async newAgentJob(given: Partial<NewAgentJob> = {}): Promise<AgentJobRow> {
      const { organizationId, projectId } = await newProject();
      const source = { repository: 'https://git.example.com/docs.git', ref: 'main', model: 'a-model' };
      const job = { organizationId, projectId, ...source, prompt: 'Do it', at: new Date(), ...given };
      return db.transaction((tx) => insertAgentJob(tx, job));
    },
  };
}

export function found(path: string, change: Partial<FoundUrl> = {}): FoundUrl {
  return { url: `https://d.example${path}`, rank: 5, depth: 1, foundOn: null, skip: null, take: false, ...change };
}

/** An empty crawl for each test. `db` and `jobId` are getters, because they are set before each test. */
export function useFrontier(stores: StoreFixture) {
  let jobId: string;

  beforeEach(async () => {
    const job = await stores.newExportJob();
    const { id, projectId } = job;
    await openCrawl(stores.db, { jobId: id, projectId, settingsJson: '{}', reuseKey: '', takes: false, keep: false });
    jobId = id;
  });

  return {
    get db() {
      return stores.db;
    },
    get jobId() {
      return jobId;
    },
    add: (...urls: FoundUrl[]) => settleUrls(stores.db, { jobId, token: 'seed', leaseMs, settled: [], found: urls }),
    lease: (token: string, limit = 10) => leaseUrls(stores.db, { jobId, token, limit, leaseMs }),
  };
}
