import { Worker } from '@temporalio/worker';
import pino from 'pino';
import { agentJobSchema } from '../../contract/admin-api.ts';
import { createAgentWorkflows } from '../../platform/agent-workflows.ts';
import { createReconciler } from '../../platform/reconciler.ts';
import {
  addAgentMessage,
  beginAgentRun,
  completeAgentRun,
  requestAgentJobCancel,
} from '../../platform/store/agent-job-transitions.ts';
import { getAgentJob } from '../../platform/store/agent-jobs.ts';
import { type Customer, startTestPlatform, type TestPlatform } from '../helpers/platform-api.ts';
import { brokenWorker, runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { createDatabase, type TestDatabase } from '../helpers/test-database.ts';
import { createApiClient } from './api/api-client.ts';

const logger = pino({ level: 'silent' });

/** No worker runs, so workflows make no progress until they are terminated. */
describe('the reconciler of agent jobs', () => {
  let temporal: TestTemporal;
  let database: TestDatabase;
  let platform: TestPlatform;
  let customer: Customer;

  beforeAll(async () => {
    [temporal, database] = await Promise.all([connectTemporal(), createDatabase()]);
    platform = await startTestPlatform(database);
    customer = await platform.addCustomer();
  });
  afterAll(async () => {
    await platform?.stop();
    await database?.stop();
    await temporal?.stop();
  });

  const workflows = (sleep?: (ms: number) => Promise<unknown>) =>
    createAgentWorkflows({ client: temporal.client, ...(sleep && { sleep }) });
  const reconcile = (nowMs = Date.now()) =>
    createReconciler({
      ...{ ...platform, temporalClient: temporal.client, logger, graceMs: -60_000 },
      now: () => nowMs,
    }).reconcile();
  const terminate = (jobId: string) => temporal.client.workflow.getHandle(jobId).terminate();
  const read = (jobId: string) => getAgentJob(platform.db, jobId);
  const begin = (jobId: string, run = 1) => beginAgentRun(platform.db, { jobId, run });

  /** A job as a create leaves it while Temporal is down: only a row. */
  async function createdJob(): Promise<string> {
    const path = `/v2/agent/${customer.project}/job`;
    const response = await createApiClient(platform.baseUrl).post(path, {
      key: customer.key,
      body: { prompt: 'hush-prompt' },
    });
    return agentJobSchema.parse(response.body).id;
  }

  /** A job whose first run's workflow has ended, and whose second run has none yet. */
  async function messagedJob(): Promise<string> {
    const jobId = await createdJob();
    await workflows().start({ jobId, run: 1 }, 'docs.example.com');
    await begin(jobId);
    await completeAgentRun(platform.db, { jobId, run: 1, prLink: null });
    await terminate(jobId);
    await addAgentMessage(platform.db, { jobId, prompt: 'And this', at: new Date() });
    return jobId;
  }

  it('starts the missing workflow of a run once, without the prompt in its history', async () => {
    const jobId = await createdJob();
    expect(await workflows().look(jobId)).toEqual({ state: 'unknown' });
    await Promise.all([reconcile(), reconcile()]);
    await reconcile();
    expect(await workflows().look(jobId)).toMatchObject({ state: 'running', run: 1 });
    const handle = temporal.client.workflow.getHandle(jobId);
    const { type, taskQueue, memo, staticSummary } = await handle.describe();
    expect([type, taskQueue, memo, await staticSummary()]).toEqual([
      'agentJob',
      'galley-platform',
      { run: 1 },
      expect.stringMatching(/^Runs an agent for docs\d+\.example\.com$/),
    ]);
    const history = JSON.stringify(await handle.fetchHistory());
    expect(history).toContain(Buffer.from(JSON.stringify({ jobId, run: 1 })).toString('base64'));
    expect(history).not.toContain(Buffer.from('hush-prompt').toString('base64').slice(0, 12));
    expect((await read(jobId))?.status).toBe('active');
  });

  it('starts the workflow of a follow-up after the previous run has ended', async () => {
    const jobId = await messagedJob();
    expect(await workflows().look(jobId)).toMatchObject({ state: 'ended', run: 1 });
    await reconcile();
    expect(await workflows().look(jobId)).toMatchObject({ state: 'running', run: 2 });
    expect(await read(jobId)).toMatchObject({ status: 'active', run: 2 });
  });

  it('fails a started run that Temporal does not know, deletes its packs and keeps its log', async () => {
    const jobId = await createdJob();
    const names = ['1/log.txt', '1/packs/a.pack', '2/packs/b.pack'].map((name) => `agent/${jobId}/${name}`);
    for (const name of names) await platform.objects.put(name, Buffer.from('x'), { contentType: 'text/plain' });
    await begin(jobId);
    await reconcile();
    const left: string[] = [];
    for await (const name of platform.objects.list(`agent/${jobId}/`)) left.push(name);
    expect(left).toEqual([names[0], names[2]]);
    expect(await read(jobId)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^The run was lost: Temporal doesn't have its workflow/),
    });
  });

  it('fails a run whose workflow task keeps failing past the deadline, and terminates its workflow', async () => {
    const jobId = await createdJob();
    await begin(jobId);
    await workflows().start({ jobId, run: 1 }, 'docs.example.com');
    // A bundle without this workflow fails its task, again and again.
    const worker = runWorker(await Worker.create({ ...brokenWorker(temporal), taskQueue: 'galley-platform' }));
    const failing = async () => {
      const found = await workflows().look(jobId);
      return found.state === 'running' && found.failingSince !== null;
    };
    await waitFor(failing, { describe: 'failed its workflow task' });
    await reconcile();
    expect((await read(jobId))?.status).toBe('active');
    await reconcile(Date.now() + 3_600_000);
    expect(await read(jobId)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^The run can't continue/),
    });
    expect(await workflows().look(jobId)).toMatchObject({ state: 'ended', status: 'TERMINATED' });
    await worker.stop();
  });

  it('cancels a running workflow again if its run was canceled', async () => {
    const jobId = await createdJob();
    await workflows().start({ jobId, run: 1 }, 'docs.example.com');
    await begin(jobId);
    await requestAgentJobCancel(platform.db, jobId);
    await reconcile();
    expect(await cancelRequests(jobId)).toBe(1);
  });

  it('does not apply a late cancel request to the next run', async () => {
    const jobId = await messagedJob();
    await workflows().cancel({ jobId, run: 1 });
    await workflows().start({ jobId, run: 2 }, 'docs.example.com');
    await workflows().cancel({ jobId, run: 1 });
    expect(await cancelRequests(jobId)).toBe(0);
    await workflows().cancel({ jobId, run: 2 });
    expect(await cancelRequests(jobId)).toBe(1);
    await workflows().cancel({ jobId: 'aj_ffffffffffffffff', run: 1 });
  });

  it('starts a follow-up once the previous workflow has closed, and fails if that takes too long', async () => {
    const jobId = await createdJob();
    await workflows().start({ jobId, run: 1 }, 'docs.example.com');
    const waits: number[] = [];
    const closes = async (ms: number) => {
      waits.push(ms);
      if (waits.length === 2) await terminate(jobId);
    };
    await workflows(closes).start({ jobId, run: 2 }, 'docs.example.com');
    expect(waits).toEqual([50, 100]);
    expect(await workflows().look(jobId)).toMatchObject({ state: 'running', run: 2 });
    // An earlier run or the same run counts as started.
    for (const run of [1, 2]) await workflows().start({ jobId, run }, 'docs.example.com');
    waits.splice(0);
    const staysOpen = async (ms: number) => waits.push(ms);
    await expect(workflows(staysOpen).start({ jobId, run: 3 }, 'docs.example.com')).rejects.toThrow('has not closed');
    expect(waits).toEqual([50, 100, 200, 400, 800, 1_600]);
    expect(await workflows().look(jobId)).toMatchObject({ state: 'running', run: 2 });
  });

  async function cancelRequests(jobId: string): Promise<number> {
    const { events } = await temporal.client.workflow.getHandle(jobId).fetchHistory();
    return (events ?? []).filter((event) => event.workflowExecutionCancelRequestedEventAttributes).length;
  }
});
