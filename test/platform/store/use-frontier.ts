import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { projectSettings } from '../../../platform/project-settings.ts';
import { openCrawl } from '../../../platform/store/crawls.ts';
import { type Database, openDatabase } from '../../../platform/store/database.ts';
import { insertExportJob } from '../../../platform/store/export-jobs.ts';
import { type FoundUrl, settleUrls } from '../../../platform/store/frontier.ts';
import { leaseUrls } from '../../../platform/store/frontier-leases.ts';
import { ensureOrganization } from '../../../platform/store/organizations.ts';
import { insertProject } from '../../../platform/store/projects.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';

export const leaseMs = 60_000;

export function found(path: string, change: Partial<FoundUrl> = {}): FoundUrl {
  return { url: `https://d.example${path}`, rank: 5, depth: 1, foundOn: null, skip: null, take: false, ...change };
}

async function openJob(db: Database): Promise<string> {
  const organization = await ensureOrganization(db, { name: 'o', plan: 'enterprise', defaultPlan: 'free' });
  const at = { organizationId: organization.id, domain: `${randomBytes(6).toString('hex')}.example` };
  const projectId = `prj_${randomBytes(6).toString('hex')}`;
  const settings = projectSettings.parse({});
  await insertProject(db, { id: projectId, ...at, origin: null, repository: null, ref: null, settings });
  const job = { ...at, projectId, version: null, paths: null, at: new Date() };
  const { id: jobId } = await db.transaction((tx) => insertExportJob(tx, job));
  await openCrawl(db, { jobId, projectId, settingsJson: '{}', reuseKey: '', takes: false, keep: false });
  return jobId;
}

/** A database for the suite and an empty crawl for each test: `db` and `jobId` are read when a test uses them. */
export function useFrontier(start: () => Promise<TestDatabase>) {
  let server: TestDatabase;
  let db: Database;
  let jobId: string;

  beforeAll(async () => {
    server = await start();
    db = await openDatabase({ ...server, logger: pino({ level: 'silent' }) });
  });

  afterAll(async () => {
    await db.close();
    await server.stop();
  });

  beforeEach(async () => {
    jobId = await openJob(db);
  });

  return {
    get db() {
      return db;
    },
    get jobId() {
      return jobId;
    },
    add: (...urls: FoundUrl[]) => settleUrls(db, { jobId, token: 'seed', leaseMs, settled: [], found: urls }),
    lease: (token: string, limit = 10) => leaseUrls(db, { jobId, token, limit, leaseMs }),
  };
}
