import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pino, { type Logger } from 'pino';
import { bundleKey } from '../../exporter/object-keys.ts';
import { createKey } from '../../platform/admin/api-keys.ts';
import { addProject } from '../../platform/admin/projects.ts';
import { createPlatformApi } from '../../platform/api/create-platform-api.ts';
import type { PlatformApiDeps } from '../../platform/api/platform-api-deps.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import type { AgentRunKey } from '../../platform/store/agent-runs.ts';
import { type Database, openDatabase } from '../../platform/store/database.ts';
import { completeExportJob, markExportJobRunning } from '../../platform/store/export-job-transitions.ts';
import { startHttpSite } from './http-site.ts';
import type { TestDatabase } from './test-database.ts';

export const OPERATOR_TOKEN = 'operator-token-of-the-tests';

export type TestPlatform = {
  baseUrl: string;
  db: Database;
  objects: ObjectStore;
  objectStoreUrl: string;
  /** The jobs whose workflows were started or canceled, in order. */
  started: string[];
  canceled: string[];
  /** The agent runs whose workflows were started or canceled, in order. */
  startedRuns: AgentRunKey[];
  canceledRuns: AgentRunKey[];
  /** Advances the platform's clock. */
  advance(ms: number): void;
  now(): number;
  /** Adds an organization with a key and a project. Missing names are generated. */
  addCustomer(options?: CustomerOptions): Promise<Customer>;
  /** Completes a job as a worker does, with these bytes as its archive. */
  complete(jobId: string, archive?: Uint8Array): Promise<void>;
  stop(): Promise<void>;
};

export type Customer = { key: string; keyId: string; organization: string; project: string; domain: string };

export type CustomerOptions = {
  plan?: 'enterprise' | 'free';
  domain?: string;
  /** Null: the project has none. */
  repository?: string | null;
  ref?: string | null;
};

let customers = 0;

/** The platform's API on a real port with a database and a file object store. No worker runs the jobs. */
export async function startTestPlatform(
  server: Pick<TestDatabase, 'url' | 'maxConnections'>,
  deps: Partial<PlatformApiDeps> & { logger?: Logger } = {},
): Promise<TestPlatform> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-objects-'));
  const logger = deps.logger ?? pino({ level: 'silent' });
  const db = deps.db ?? (await openDatabase({ url: server.url, maxConnections: server.maxConnections, logger }));
  let offsetMs = 0;
  const now = () => Date.now() + offsetMs;
  const objectStoreUrl = pathToFileURL(folder).href;
  const objects = deps.objects ?? (await createObjectStore({ url: objectStoreUrl, now }));
  const [started, canceled]: [string[], string[]] = [[], []];
  const [startedRuns, canceledRuns]: [AgentRunKey[], AgentRunKey[]] = [[], []];
  const { origin: baseUrl, setHandler, close } = await startHttpSite(() => undefined);
  const app = createPlatformApi({
    objects,
    startExport: async (jobId) => void started.push(jobId),
    cancelExport: async (jobId) => void canceled.push(jobId),
    startAgentJob: async (key) => void startedRuns.push(key),
    cancelAgentJob: async (key) => void canceledRuns.push(key),
    agentModel: 'a-model',
    publicUrl: () => baseUrl,
    bundleLinkTtlMs: 3_600_000,
    operatorToken: OPERATOR_TOKEN,
    now,
    ...deps,
    db,
    logger,
  });
  setHandler(app);

  return {
    baseUrl,
    db,
    objects,
    objectStoreUrl,
    started,
    canceled,
    startedRuns,
    canceledRuns,
    now,
    advance: (ms) => {
      offsetMs += ms;
    },
    async addCustomer({ plan = 'enterprise', domain, repository = 'https://git.example.com/docs.git', ref } = {}) {
      customers += 1;
      const name = `Organization ${customers} ${process.pid}`;
      const { key, id, organization } = await createKey(db, { organization: name, plan });
      const project = `prj_${process.pid}_${customers}`;
      const added = await addProject(db, {
        ...{ organization, project, repository, ref },
        domain: domain ?? `docs${customers}.example.com`,
      });
      return { key, keyId: id, organization, project, domain: added.domain };
    },
    async complete(jobId, archive = Buffer.from('an archive')) {
      const archiveSha256 = createHash('sha256').update(archive).digest('hex');
      const archiveKey = bundleKey(archiveSha256);
      const reportKey = `reports/${jobId}.json`;
      const counts = { brokenLinks: 0, redirects: 0, skippedPages: 0, originUrls: 0 };
      const report = { jobId, brokenLinks: [], redirects: [], skippedPages: [], truncated: false, counts };
      await objects.put(archiveKey, archive, { contentType: 'application/gzip' });
      await objects.put(reportKey, Buffer.from(JSON.stringify(report)), { contentType: 'application/json' });
      await markExportJobRunning(db, jobId);
      const sizes = { pageCount: 3, archiveSizeBytes: archive.byteLength, contentSha256: archiveSha256 };
      const manifestSha256 = archiveSha256;
      await completeExportJob(db, jobId, { archiveKey, archiveSha256, manifestSha256, reportKey, ...sizes });
    },
    async stop() {
      await close();
      if (!deps.db) await db.close();
      await objects.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
