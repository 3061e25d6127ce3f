import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { TASK_QUEUES } from '../../contract/names.ts';
import type { AgentDeps } from '../../platform/activities/agent/agent-deps.ts';
import { createAgentWorkflows } from '../../platform/agent-workflows.ts';
import { createEmbeddedForge } from '../../platform/forge/embedded-forge.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { requestAgentJobCancel } from '../../platform/store/agent-job-transitions.ts';
import { type AgentJobRow, getAgentJob } from '../../platform/store/agent-jobs.ts';
import { type Database, openDatabase } from '../../platform/store/database.ts';
import { createPlatformWorker } from '../../platform/worker.ts';
import { recordNamespace } from '../replay/record-runs.ts';
import { addTestJob, addTestMessage, type NewTestJob } from './agent-jobs.ts';
import type { AgentWorkerOptions } from './agent-worker-process.ts';
import { runWorker } from './run-worker.ts';
import { ScriptRunner } from './script-runner.ts';
import { connectTemporal, type TestTemporal } from './temporal.ts';
import type { TestDatabase } from './test-database.ts';
import { workflowBundles } from './workflow-bundles.ts';

export const PUBLIC_URL = 'http://platform.test';

export type AgentFixture = {
  db: Database;
  objects: ObjectStore;
  temporal: TestTemporal;
  runner: ScriptRunner;
  /** The options of a worker with the fixture's runner and the embedded forge. */
  agents: AgentDeps;
  /** The connection options with which another process can run the same jobs. */
  addresses: Omit<AgentWorkerOptions, 'identity' | 'holdAt' | 'heldFile'>;
  /** A folder that is removed with the fixture. */
  folder: string;
  /** Adds a job without starting it. */
  add(job: NewTestJob): Promise<AgentJobRow>;
  /** Starts a job's current run. */
  start(jobId: string): Promise<void>;
  /** Waits for the workflow of a job's current run and reads the job. */
  end(jobId: string): Promise<AgentJobRow>;
  /** `add`, `start` and `end`. */
  run(job: NewTestJob): Promise<AgentJobRow>;
  /** Sends a message and waits for its run. */
  message(jobId: string, prompt: string): Promise<AgentJobRow>;
  /** Accepts a cancel as the API does. `workflow: false`: as if Temporal was unreachable. */
  cancel(jobId: string, options?: { workflow: boolean }): Promise<void>;
  startWorker(change?: Partial<AgentDeps>): Promise<{ stop(): Promise<void> }>;
  /** The history of a job's last run, as text. */
  history(jobId: string): Promise<string>;
  /** The entries of the work folder. */
  leftovers(): Promise<string[]>;
  stop(): Promise<void>;
};

/**
 * Everything that agent jobs need except workers: a database, a file object store, and a Temporal dev server (the shared
 * one by default).
 */
export async function startAgentFixture(
  database: TestDatabase,
  given: { temporal?: TestTemporal } = {},
): Promise<AgentFixture> {
  const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const folder = await mkdtemp(join(tmpdir(), 'galley-agents-'));
  const objectStoreUrl = pathToFileURL(join(folder, 'objects')).href;
  const workDir = join(folder, 'work');
  const temporal = given.temporal ?? (await connectTemporal());
  const db = await openDatabase({ url: database.url, maxConnections: database.maxConnections, logger });
  const objects = await createObjectStore({ url: objectStoreUrl });
  const workflows = createAgentWorkflows({ client: temporal.client });
  const forge = createEmbeddedForge({ db, logger, publicUrl: () => PUBLIC_URL });
  const runner = new ScriptRunner();
  const agents: AgentDeps = { runner, forgeFor: () => forge, workDir };
  const stops: (() => Promise<void>)[] = [];

  const fixture: AgentFixture = {
    db,
    objects,
    temporal,
    runner,
    agents,
    addresses: {
      databaseUrl: database.url,
      maxConnections: database.maxConnections,
      objectStoreUrl,
      temporalAddress: temporal.address,
      temporalNamespace: temporal.namespace,
      workDir,
    },
    folder,
    add: (job) => addTestJob(db, job),
    async start(jobId) {
      const job = await getAgentJob(db, jobId);
      await workflows.start({ jobId, run: job?.run ?? 0 }, 'docs.example.com');
    },
    async end(jobId) {
      const result = temporal.client.workflow.getHandle(jobId).result();
      await result.catch(() => undefined);
      const job = await getAgentJob(db, jobId);
      if (job === undefined) throw new Error(`There is no job ${jobId}`);
      return job;
    },
    async run(job) {
      const { id } = await fixture.add(job);
      await fixture.start(id);
      return fixture.end(id);
    },
    async message(jobId, prompt) {
      await addTestMessage(db, jobId, prompt);
      await fixture.start(jobId);
      return fixture.end(jobId);
    },
    async cancel(jobId, { workflow } = { workflow: true }) {
      const requested = await requestAgentJobCancel(db, jobId);
      if (workflow) await workflows.cancel({ jobId, run: requested?.job.run ?? 0 });
    },
    async startWorker(change = {}) {
      const worker = await createPlatformWorker({
        connection: temporal.nativeConnection,
        namespace: temporal.namespace,
        taskQueue: TASK_QUEUES.platform,
        db,
        objects,
        logger,
        agents: { ...agents, ...change },
        searchAttributes: true,
        workflowBundle: workflowBundles.platform,
        shutdownForceTime: '110s',
      });
      const running = runWorker(worker);
      stops.push(running.stop);
      return running;
    },
    async history(jobId) {
      const { events } = await temporal.client.workflow.getHandle(jobId).fetchHistory();
      return textsOf(events).join('\n');
    },
    leftovers: () => readdir(workDir).catch(() => []),
    async stop() {
      for (const stop of stops) await stop();
      await recordNamespace(temporal.client);
      await temporal.stop();
      await objects.close();
      await db.close();
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return fixture;
}

/** Every text in a value. Bytes are decoded as text. */
function textsOf(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString()];
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsOf);
  return typeof value === 'string' ? [value] : [];
}
