import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import pino from 'pino';
import { createExportWorkflows } from '../../platform/export-workflows.ts';
import { createReconciler, type ReconcilerDeps } from '../../platform/reconciler.ts';
import { connectDatabase } from '../../platform/store/database.ts';
import {
  failExportJob,
  markExportJobRunning,
  requestExportJobCancel,
} from '../../platform/store/export-job-transitions.ts';
import { findActiveExportJob, getExportJob, insertExportJob } from '../../platform/store/export-jobs.ts';
import { PATIENT_CONNECTION } from '../helpers/patient-connection.ts';
import { startTestPlatform, type TestPlatform } from '../helpers/platform-api.ts';
import { brokenWorker, runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { createDatabase, type TestDatabase } from '../helpers/test-database.ts';

const logger = pino({ level: 'silent' });

describe('the reconciler', () => {
  let temporal: TestTemporal;
  let database: TestDatabase;
  let platform: TestPlatform;

  beforeAll(async () => {
    [temporal, database] = await Promise.all([connectTemporal(), createDatabase()]);
    platform = await startTestPlatform(database);
  });
  afterAll(async () => {
    await platform?.stop();
    await database?.stop();
    await temporal?.stop();
  });

  /** A job as a start leaves it while Temporal is down: only a row. */
  async function queuedJob(at = new Date()): Promise<string> {
    const { project, domain } = await platform.addCustomer();
    const { rows } = await platform.db.execute(`select organization_id from projects where id = '${project}'`);
    const organizationId = String(rows[0]?.organization_id);
    const job = { organizationId, projectId: project, domain, version: null, paths: null, at };
    return (await platform.db.transaction((tx) => insertExportJob(tx, job))).id;
  }

  const reconciler = (options: Partial<ReconcilerDeps> = {}) =>
    createReconciler({
      ...{ ...platform, temporalClient: temporal.client, logger, graceMs: -60_000, intervalMs: 50 },
      ...options,
    });
  const workflows = () => createExportWorkflows({ client: temporal.client });
  const state = async (jobId: string) => (await workflows().look(jobId)).state;
  const status = async (jobId: string) => (await getExportJob(platform.db, jobId))?.status;

  it('starts the missing workflow of a queued job once', async () => {
    const jobId = await queuedJob();
    expect(await state(jobId)).toBe('unknown');
    await Promise.all([reconciler().reconcile(), reconciler().reconcile()]);
    await reconciler().reconcile();
    expect(await state(jobId)).toBe('running');
    const described = await temporal.client.workflow.getHandle(jobId).describe();
    expect([described.type, described.taskQueue]).toEqual(['staticExportJob', 'galley-platform']);
    expect(await described.staticSummary()).toBe(`Exports ${(await getExportJob(platform.db, jobId))?.domain}`);
    expect(await status(jobId)).toBe('queued');
  });

  it('ignores a job that changed within the grace period', async () => {
    const jobId = await queuedJob();
    await reconciler({ graceMs: 60_000 }).reconcile();
    expect(await state(jobId)).toBe('unknown');
  });

  it('repairs times from a clock that was briefly a year ahead', async () => {
    const ahead = new Date(Date.now() + 365 * 86_400_000);
    const jobId = await queuedJob(ahead);
    await reconciler({ graceMs: 60_000 }).reconcile();
    expect(await state(jobId)).toBe('running');
  });

  it('fails a running job that Temporal does not know', async () => {
    const jobId = await queuedJob();
    await markExportJobRunning(platform.db, jobId);
    await reconciler().reconcile();
    expect(await getExportJob(platform.db, jobId)).toMatchObject({
      status: 'failed',
      error: "The export was lost: Temporal doesn't have its workflow any more. Start it again",
    });
  });

  it('leaves a job alone, and its report, that completes while its workflow is looked up', async () => {
    const jobId = await queuedJob();
    await markExportJobRunning(platform.db, jobId);
    const getHandle = (id: string) => ({
      async describe() {
        if (id === jobId) await platform.complete(id);
        return await temporal.client.workflow.getHandle(id).describe();
      },
    });
    const temporalClient = Object.create(temporal.client, { workflow: { value: { getHandle } } });
    const lines: string[] = [];
    const capturing = pino({}, { write: (line: string) => void lines.push(line) });
    await reconciler({ temporalClient, logger: capturing }).reconcile();
    expect(await status(jobId)).toBe('completed');
    expect(lines.filter((line) => line.includes(jobId))).toEqual([]);
  });

  it('fails a job whose workflow ended without a result, queued or running', async () => {
    const jobs = [await queuedJob(), await queuedJob()];
    for (const jobId of jobs) await workflows().start(jobId, 'docs.example.com');
    await markExportJobRunning(platform.db, jobs[1] ?? '');
    await reconciler().reconcile();
    expect(await Promise.all(jobs.map(status))).toEqual(['queued', 'running']);
    for (const jobId of jobs) await temporal.client.workflow.getHandle(jobId).terminate();
    await reconciler().reconcile();
    expect(await Promise.all(jobs.map(status))).toEqual(['failed', 'failed']);
    const error = 'The export was lost: its workflow was terminated in Temporal. Start it again';
    for (const jobId of jobs) expect((await getExportJob(platform.db, jobId))?.error).toBe(error);
  });

  it('fails a job whose workflow task keeps failing past the deadline, which frees its domain', async () => {
    const jobId = await queuedJob();
    await markExportJobRunning(platform.db, jobId);
    await workflows().start(jobId, 'docs.example.com');
    // A bundle without this workflow fails its task, again and again.
    const worker = runWorker(await Worker.create({ ...brokenWorker(temporal), taskQueue: 'galley-platform' }));
    const failing = async () => {
      const found = await workflows().look(jobId);
      return found.state === 'running' && found.failingSince !== null;
    };
    await waitFor(failing, { describe: 'failed its workflow task' });
    await reconciler().reconcile();
    expect(await status(jobId)).toBe('running');

    const later = () => Date.now() + 3_600_000;
    await Promise.all([reconciler({ now: later }).reconcile(), reconciler({ now: later }).reconcile()]);
    const row = await getExportJob(platform.db, jobId);
    expect(row).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^The export can't continue: .*fixed$/),
    });
    expect(await findActiveExportJob(platform.db, row?.projectId ?? '')).toBeUndefined();
    expect(await workflows().look(jobId)).toMatchObject({ state: 'ended', status: 'TERMINATED' });
    await worker.stop();
  });

  it('fails no job while Temporal is down', async () => {
    const jobId = await queuedJob();
    await markExportJobRunning(platform.db, jobId);
    const connection = Connection.lazy({ address: '127.0.0.1:9', ...PATIENT_CONNECTION });
    const unreachable = new Client({ connection });
    const later = () => Date.now() + 3_600_000;
    await expect(reconciler({ temporalClient: unreachable, now: later }).reconcile()).rejects.toThrow();
    expect(await status(jobId)).toBe('running');
    await connection.close();
    await failExportJob(platform.db, jobId, 'test');
  });

  it('cancels a running workflow again if its job was canceled', async () => {
    const jobId = await queuedJob();
    await workflows().start(jobId, 'docs.example.com');
    await markExportJobRunning(platform.db, jobId);
    await requestExportJobCancel(platform.db, jobId);
    await reconciler().reconcile();
    const { events = [] } = await temporal.client.workflow.getHandle(jobId).fetchHistory();
    expect(events?.filter((event) => event.workflowExecutionCancelRequestedEventAttributes)).toHaveLength(1);
  });

  it('treats canceling a workflow that never started, and a second start, as success', async () => {
    await workflows().cancel('se_ffffffffffffffff');
    const jobId = await queuedJob();
    await workflows().start(jobId, 'docs.example.com');
    await workflows().start(jobId, 'docs.example.com');
    await temporal.client.workflow.getHandle(jobId).terminate();
    await workflows().start(jobId, 'docs.example.com');
    expect(await state(jobId)).toBe('ended');
  });

  it('runs on an interval, and continues after failures until it is stopped', async () => {
    const lines: string[] = [];
    const capturing = pino({}, { write: (line: string) => void lines.push(line) });
    const unreachable = connectDatabase({ url: 'postgres://127.0.0.1:9/none', logger });
    const jobId = await queuedJob();
    const failing = reconciler({ db: unreachable, logger: capturing });
    failing.start();
    const failures = () => lines.filter((line) => line.includes('could not be compared')).length;
    await waitFor(() => failures() >= 2, { describe: 'failed twice' });
    await failing.stop();
    const working = reconciler();
    working.start();
    await waitFor(async () => (await state(jobId)) === 'running', { describe: 'started the workflow' });
    await working.stop();
    await unreachable.close();
  });
});
