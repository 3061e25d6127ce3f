import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { agentJob } from '../../contract/admin-api.ts';
import { createAgentWorkflows } from '../../platform/agent-workflows.ts';
import { createReconciler } from '../../platform/reconciler.ts';
import { decideAgentJob, LOST } from '../../platform/settle-agent-job.ts';
import {
  addAgentMessage,
  beginAgentRun,
  completeAgentRun,
  failAgentRun,
  requestAgentJobCancel,
} from '../../platform/store/agent-job-transitions.ts';
import { getAgentJob } from '../../platform/store/agent-jobs.ts';
import { type Customer, startTestPlatform, type TestPlatform } from '../helpers/platform-api.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { createDatabase, type TestDatabase } from '../helpers/test-database.ts';
import { createApiClient } from './api/api-client.ts';

const logger = pino({ level: 'silent' });

/** No worker runs: workflows stand where they were started until they are terminated. */
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

  const workflows = () => createAgentWorkflows({ client: temporal.client });
  const reconcile = (graceMs = -60_000) =>
    createReconciler({ ...platform, temporalClient: temporal.client, logger, graceMs }).reconcile();
  const terminate = (jobId: string) => temporal.client.workflow.getHandle(jobId).terminate();
  const read = (jobId: string) => getAgentJob(platform.db, jobId);
  const begin = (jobId: string, run = 1) => beginAgentRun(platform.db, { jobId, run });

  /** A job as a create leaves it when Temporal is away: a row and nothing else. */
  async function createdJob({ baseUrl } = platform): Promise<string> {
    const path = `/v2/agent/${customer.project}/job`;
    const answer = await createApiClient(baseUrl).post(path, { key: customer.key, body: { prompt: 'hush-prompt' } });
    expect(answer.status).toBe(201);
    return agentJob.parse(answer.body).id;
  }

  /** A job whose first run's workflow has ended, and whose second run has none yet. */
  async function messagedJob(): Promise<string> {
    const jobId = await createdJob();
    await workflows().start({ jobId, run: 1 });
    await begin(jobId);
    await completeAgentRun(platform.db, { jobId, run: 1, prLink: null });
    await terminate(jobId);
    await addAgentMessage(platform.db, { jobId, prompt: 'And this', at: new Date() });
    return jobId;
  }

  it('starts the workflow of a run that has none, once, with nothing of the prompt in it', async () => {
    const jobId = await createdJob();
    expect(await workflows().look(jobId)).toEqual({ state: 'unknown' });
    await Promise.all([reconcile(), reconcile()]);
    await reconcile();
    expect(await workflows().look(jobId)).toEqual({ state: 'running', run: 1 });
    const handle = temporal.client.workflow.getHandle(jobId);
    const { type, taskQueue, memo } = await handle.describe();
    expect([type, taskQueue, memo]).toEqual(['agentJob', 'galley-platform', { run: 1 }]);
    const history = JSON.stringify(await handle.fetchHistory());
    expect(history).toContain(Buffer.from(JSON.stringify({ jobId, run: 1 })).toString('base64'));
    expect(history).not.toContain(Buffer.from('hush-prompt').toString('base64').slice(0, 12));
    expect((await read(jobId))?.status).toBe('active');
  });

  it('starts it also where Temporal was away when the job was created', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:9' });
    const { start } = createAgentWorkflows({ client: new Client({ connection, namespace: temporal.namespace }) });
    const tries: Promise<void>[] = [];
    const startAgentJob: typeof start = (key) => {
      const tried = start(key);
      tries.push(tried);
      return tried;
    };
    const deaf = await startTestPlatform(database, { db: platform.db, startAgentJob });
    const jobId = await createdJob(deaf);
    await reconcile();
    expect(await workflows().look(jobId)).toEqual({ state: 'running', run: 1 });
    await expect(Promise.all(tries)).rejects.toThrow();
    await deaf.stop();
    await connection.close();
  });

  it('starts the workflow of a follow-up after that of the run before', async () => {
    const jobId = await messagedJob();
    expect(await workflows().look(jobId)).toEqual({ state: 'ended', run: 1 });
    await reconcile();
    expect(await workflows().look(jobId)).toEqual({ state: 'running', run: 2 });
    expect(await read(jobId)).toMatchObject({ status: 'active', run: 2 });
  });

  it('leaves alone what was touched a moment ago', async () => {
    const jobId = await createdJob();
    await reconcile(60_000);
    expect(await workflows().look(jobId)).toEqual({ state: 'unknown' });
  });

  it('fails a run that has begun and that Temporal knows nothing of', async () => {
    const jobId = await createdJob();
    await begin(jobId);
    await reconcile();
    expect(await read(jobId)).toMatchObject({ status: 'failed', error: LOST });
  });

  it('forgets the packs of a run that is lost, and keeps its log', async () => {
    const jobId = await createdJob();
    const names = ['1/log.txt', '1/packs/a.pack', '2/packs/b.pack'].map((name) => `agent/${jobId}/${name}`);
    for (const name of names) await platform.objects.put(name, Buffer.from('x'), { contentType: 'text/plain' });
    await begin(jobId);
    await reconcile();
    const left: string[] = [];
    for await (const name of platform.objects.list(`agent/${jobId}/`)) left.push(name);
    expect(left).toEqual([names[0], names[2]]);
  });

  it('fails a run whose workflow ended without a result, begun or not, a first or a later one', async () => {
    const [untouched, begun, later] = [await createdJob(), await createdJob(), await messagedJob()];
    const runs = [
      { jobId: untouched, run: 1 },
      { jobId: begun, run: 1 },
      { jobId: later, run: 2 },
    ];
    for (const key of runs) await workflows().start(key);
    await begin(begun);
    await begin(later, 2);
    await reconcile();
    for (const { jobId } of runs) expect((await read(jobId))?.status).toBe('active');
    for (const { jobId } of runs) await terminate(jobId);
    await reconcile();
    for (const { jobId } of runs) expect(await read(jobId)).toMatchObject({ status: 'failed', error: LOST });
  });

  it('ends a cancelled run as cancelled where its workflow is gone', async () => {
    const jobId = await createdJob();
    await begin(jobId);
    await requestAgentJobCancel(platform.db, jobId);
    await reconcile();
    expect(await read(jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
  });

  it('tells a running workflow again that its run was cancelled', async () => {
    const jobId = await createdJob();
    await workflows().start({ jobId, run: 1 });
    await begin(jobId);
    await requestAgentJobCancel(platform.db, jobId);
    await reconcile();
    expect(await cancelRequests(jobId)).toBe(1);
  });

  it('never lets a cancel that comes late reach the next run', async () => {
    const jobId = await messagedJob();
    await workflows().cancel({ jobId, run: 1 });
    await workflows().start({ jobId, run: 2 });
    await workflows().cancel({ jobId, run: 1 });
    expect(await cancelRequests(jobId)).toBe(0);
    await workflows().cancel({ jobId, run: 2 });
    expect(await cancelRequests(jobId)).toBe(1);
    await workflows().cancel({ jobId: 'aj_ffffffffffffffff', run: 1 });
  });

  it('waits with a follow-up for the workflow before it to close, and for no longer than a moment', async () => {
    const jobId = await createdJob();
    await workflows().start({ jobId, run: 1 });
    const second = workflows().start({ jobId, run: 2 });
    await sleep(300);
    await terminate(jobId);
    await second;
    expect(await workflows().look(jobId)).toEqual({ state: 'running', run: 2 });
    await workflows().start({ jobId, run: 1 });
    await workflows().start({ jobId, run: 2 });
    await expect(workflows().start({ jobId, run: 3 })).rejects.toThrow('has not closed');
    expect(await workflows().look(jobId)).toEqual({ state: 'running', run: 2 });
  });

  it('leaves what has ended alone', async () => {
    const jobId = await createdJob();
    await failAgentRun(platform.db, { jobId, run: 1, error: 'exit 1' });
    const before = await read(jobId);
    await reconcile();
    expect(await read(jobId)).toEqual(before);
    expect(await workflows().look(jobId)).toEqual({ state: 'unknown' });
  });

  it.each([
    ['unknown', 0, false, false, 'start'],
    ['unknown', 0, true, false, 'lost'],
    ['running', 2, false, false, 'leave'],
    ['running', 2, true, true, 'cancel'],
    ['running', 1, false, false, 'leave'],
    ['running', 1, false, true, 'leave'],
    ['ended', 1, false, false, 'start'],
    ['ended', 1, true, false, 'lost'],
    ['ended', 2, false, false, 'lost'],
    ['ended', 2, true, true, 'lost'],
  ] as const)(
    'has for a second run with a workflow %s of run %i, begun %s, cancelled %s: %s',
    (state, run, begun, cancelled, decision) => {
      const job = { id: 'aj_a', sequence: 1, run: 2, begun, cancelRequestedAt: cancelled ? new Date() : null };
      expect(decideAgentJob(job, state === 'unknown' ? { state } : { state, run })).toBe(decision);
    },
  );

  async function cancelRequests(jobId: string): Promise<number> {
    const { events } = await temporal.client.workflow.getHandle(jobId).fetchHistory();
    return (events ?? []).filter((event) => event.workflowExecutionCancelRequestedEventAttributes).length;
  }
});
