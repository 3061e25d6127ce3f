import {
  addAgentMessage,
  archiveAgentJob,
  beginAgentRun,
  completeAgentRun,
  failAgentRun,
  requestAgentJobCancel,
} from '../../../platform/store/agent-job-transitions.ts';
import { getAgentJob, listUnsettledAgentJobs } from '../../../platform/store/agent-jobs.ts';
import { getAgentRun } from '../../../platform/store/agent-runs.ts';
import type { Database } from '../../../platform/store/database.ts';
import type { StoreFixture } from './store-fixture.ts';

const PULL_REQUEST = 'https://git.example.com/docs/pulls/7';

/** The tests of the queries for agent jobs, which every kind of PostgreSQL must pass. */
export function agentJobsContract(stores: StoreFixture): void {
  let db: Database;
  beforeAll(() => {
    ({ db } = stores);
  });

  /** A job whose first run has started. */
  async function begunJob(): Promise<{ jobId: string; run: number }> {
    const { id, run } = await stores.newAgentJob();
    const key = { jobId: id, run };
    expect(await beginAgentRun(db, key)).toBeDefined();
    return key;
  }

  async function completedJob(): Promise<string> {
    const key = await begunJob();
    await completeAgentRun(db, { ...key, prLink: PULL_REQUEST });
    return key.jobId;
  }

  const message = (jobId: string, prompt = 'And this') => addAgentMessage(db, { jobId, prompt, at: new Date() });

  it('inserts an active job with its branch, and finds it by its id', async () => {
    const at = new Date('2026-11-21T10:00:00.123Z');
    const job = await stores.newAgentJob({ at });
    expect(job).toMatchObject({ status: 'active', run: 1, prLink: null, error: null, createdAt: at, updatedAt: at });
    expect(job.id).toMatch(/^aj_[0-9a-f]{16}$/);
    expect(job.branch).toBe(`galley/${job.id}`);
    expect(await getAgentJob(db, job.id)).toEqual(job);
    expect(await getAgentJob(db, 'aj_0000000000000000')).toBeUndefined();
  });

  it('starts a run, and keeps its start time when started again', async () => {
    const { id, run } = await stores.newAgentJob();
    const first = await beginAgentRun(db, { jobId: id, run });
    expect(first).toMatchObject({ job: { id, status: 'active' }, run: { run: 1, prompt: 'Do it', status: 'active' } });
    expect(first?.run.startedAt).toBeInstanceOf(Date);
    expect((await beginAgentRun(db, { jobId: id, run }))?.run.startedAt).toEqual(first?.run.startedAt);
  });

  it('does not start a run that has ended, is not the current one, or has no job', async () => {
    const jobId = await completedJob();
    expect(await beginAgentRun(db, { jobId, run: 1 })).toBeUndefined();
    expect(await beginAgentRun(db, { jobId, run: 2 })).toBeUndefined();
    await message(jobId);
    expect(await beginAgentRun(db, { jobId, run: 1 })).toBeUndefined();
    expect(await beginAgentRun(db, { jobId, run: 2 })).toMatchObject({ run: { prompt: 'And this' } });
    expect(await beginAgentRun(db, { jobId: 'aj_none', run: 1 })).toBeUndefined();
  });

  it('ends a run as canceled if it is started again after a cancel request was accepted', async () => {
    const key = await begunJob();
    await requestAgentJobCancel(db, key.jobId);
    expect(await beginAgentRun(db, key)).toBeUndefined();
    expect(await getAgentJob(db, key.jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
  });

  it('never changes a run that has ended', async () => {
    const jobId = await completedJob();
    const completed = await getAgentJob(db, jobId);
    expect(completed).toMatchObject({ status: 'completed', prLink: PULL_REQUEST, error: null });
    expect(await failAgentRun(db, { jobId, run: 1, error: 'late' })).toEqual(completed);
    expect(await completeAgentRun(db, { jobId, run: 1, prLink: null })).toEqual(completed);
    expect(await requestAgentJobCancel(db, jobId)).toEqual({ accepted: false, job: completed });
    expect(await completeAgentRun(db, { jobId: 'aj_none', run: 1, prLink: null })).toBeUndefined();
    expect(await requestAgentJobCancel(db, 'aj_none')).toBeUndefined();
  });

  it('ignores the end of an earlier run while another one is current', async () => {
    const jobId = await completedJob();
    await message(jobId);
    await failAgentRun(db, { jobId, run: 1, error: 'late' });
    expect(await getAgentJob(db, jobId)).toMatchObject({ status: 'active', run: 2, error: null });
  });

  it('fails with any text, including characters that the database cannot store', async () => {
    const key = await begunJob();
    const failed = await failAgentRun(db, { ...key, error: 'exit 1: \u0000\ud800 end' });
    expect(failed).toMatchObject({ status: 'failed', error: 'exit 1: \ufffd\ufffd end' });
  });

  it('hides the pull request while a follow-up runs, and shows it again when the run completes or fails', async () => {
    const jobId = await completedJob();
    expect(await message(jobId)).toMatchObject({ accepted: true, job: { status: 'active', run: 2, prLink: null } });
    await completeAgentRun(db, { jobId, run: 2, prLink: null });
    expect(await getAgentJob(db, jobId)).toMatchObject({ status: 'completed', prLink: PULL_REQUEST });
    await message(jobId);
    await failAgentRun(db, { jobId, run: 3, error: 'exit 1' });
    expect(await getAgentJob(db, jobId)).toMatchObject({ status: 'failed', prLink: PULL_REQUEST, error: 'exit 1' });
    expect(await message(jobId)).toMatchObject({ job: { status: 'active', run: 4, prLink: null, error: null } });
    const moved = `${PULL_REQUEST}0`;
    await completeAgentRun(db, { jobId, run: 4, prLink: moved });
    expect(await getAgentJob(db, jobId)).toMatchObject({ status: 'completed', prLink: moved, error: null });
  });

  it('fails a run at once if it is canceled before it starts, whether it is the first or a later one', async () => {
    const { id } = await stores.newAgentJob();
    const canceled = { accepted: true, job: { status: 'failed', error: 'cancelled' } };
    expect(await requestAgentJobCancel(db, id)).toMatchObject(canceled);
    expect(await beginAgentRun(db, { jobId: id, run: 1 })).toBeUndefined();
    await message(id);
    expect(await requestAgentJobCancel(db, id)).toMatchObject(canceled);
  });

  it('ends a started run as canceled once its cancel was accepted, but not the next run', async () => {
    for (const end of [
      (key: { jobId: string; run: number }) => completeAgentRun(db, { ...key, prLink: null }),
      (key: { jobId: string; run: number }) => failAgentRun(db, { ...key, error: 'exit 1' }),
    ]) {
      const key = await begunJob();
      const accepted = { accepted: true, job: { status: 'active', error: null, cancelRequestedAt: expect.any(Date) } };
      expect(await requestAgentJobCancel(db, key.jobId)).toMatchObject(accepted);
      expect(await requestAgentJobCancel(db, key.jobId)).toMatchObject(accepted);
      expect(await end(key)).toMatchObject({ status: 'failed', error: 'cancelled', prLink: null });
      await message(key.jobId);
      expect(await beginAgentRun(db, { ...key, run: 2 })).toBeDefined();
      const completed = await completeAgentRun(db, { ...key, run: 2, prLink: null });
      expect(completed).toMatchObject({ status: 'completed', prLink: null });
    }
  });

  it('shows a pull request that was opened during the cancel, also after the next run', async () => {
    const key = await begunJob();
    await requestAgentJobCancel(db, key.jobId);
    const ended = await completeAgentRun(db, { ...key, prLink: PULL_REQUEST });
    expect(ended).toMatchObject({ status: 'failed', error: 'cancelled', prLink: PULL_REQUEST });
    expect(await getAgentRun(db, key)).toMatchObject({ status: 'failed', prLink: PULL_REQUEST });
    await message(key.jobId);
    const next = await completeAgentRun(db, { ...key, run: 2, prLink: null });
    expect(next).toMatchObject({ status: 'completed', prLink: PULL_REQUEST });
  });

  it('archives an ended job once, and no active job', async () => {
    const { id } = await stores.newAgentJob();
    expect(await archiveAgentJob(db, id)).toMatchObject({ status: 'active', archivedAt: null });
    await failAgentRun(db, { jobId: id, run: 1, error: 'exit 1' });
    const archived = await archiveAgentJob(db, id);
    expect(archived).toMatchObject({ status: 'archived', archivedAt: expect.any(Date), error: 'exit 1' });
    expect(await archiveAgentJob(db, id)).toEqual(archived);
    expect(await message(id)).toEqual({ accepted: false, job: archived });
    expect(await requestAgentJobCancel(db, id)).toEqual({ accepted: false, job: archived });
    expect(await archiveAgentJob(db, 'aj_none')).toBeUndefined();
    expect(await message('aj_none')).toBeUndefined();
  });

  it('accepts one of several concurrent messages, as one run', async () => {
    const jobId = await completedJob();
    const results = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((prompt) => message(jobId, prompt)));
    expect(results.filter((result) => result?.accepted)).toHaveLength(1);
    expect(await getAgentJob(db, jobId)).toMatchObject({ status: 'active', run: 2 });
  });

  it('serializes concurrent changes: cancel and completion, cancel and start, message and archive', async () => {
    for (let round = 0; round < 20; round += 1) {
      const key = await begunJob();
      const [cancel, end] = await Promise.all([
        requestAgentJobCancel(db, key.jobId),
        completeAgentRun(db, { ...key, prLink: PULL_REQUEST }),
      ]);
      expect(end?.status).toBe(cancel?.accepted ? 'failed' : 'completed');

      const { id } = await stores.newAgentJob();
      const [begun, stopped] = await Promise.all([
        beginAgentRun(db, { jobId: id, run: 1 }),
        requestAgentJobCancel(db, id),
      ]);
      expect(stopped?.job.status).toBe(begun === undefined ? 'failed' : 'active');

      const jobId = await completedJob();
      const [archived, messaged] = await Promise.all([archiveAgentJob(db, jobId), message(jobId)]);
      expect(archived?.status).toBe(messaged?.accepted ? 'active' : 'archived');
      expect((await getAgentJob(db, jobId))?.status).toBe(archived?.status);
    }
  });

  it('lists for the reconciler only active jobs that have not changed for a while, page by page', async () => {
    const [fresh, begun, ended] = [await stores.newAgentJob(), await begunJob(), await stores.newAgentJob()];
    await failAgentRun(db, { jobId: ended.id, run: 1, error: 'exit 1' });
    const latest = new Date(Date.now() + 3_600_000);
    const list = (untouchedSince: Date, afterSequence: number, limit: number) =>
      listUnsettledAgentJobs(db, { untouchedSince, latest, afterSequence, limit });
    const later = new Date(Date.now() + 60_000);
    const found = await list(later, fresh.sequence - 1, 1000);
    expect(found.map(({ id, run, begun }) => [id, run, begun])).toEqual([
      [fresh.id, 1, false],
      [begun.jobId, 1, true],
    ]);
    expect((await list(later, fresh.sequence, 1)).map(({ id }) => id)).toEqual([begun.jobId]);
    expect(await list(new Date(0), 0, 1000)).toEqual([]);
  });
}
