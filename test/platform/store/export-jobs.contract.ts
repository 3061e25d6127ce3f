import type { Database } from '../../../platform/store/database.ts';
import {
  completeExportJob,
  failExportJob,
  markExportJobRunning,
  requestExportJobCancel,
  updateExportJobProgress,
} from '../../../platform/store/export-job-transitions.ts';
import {
  findActiveExportJob,
  getExportJob,
  listUnsettledExportJobs,
  requestedPaths,
} from '../../../platform/store/export-jobs.ts';
import type { StoreFixture } from './store-fixture.ts';

const RESULT = {
  pageCount: 12,
  archiveKey: 'bundles/aa/bundle.tar.gz',
  archiveSha256: 'a'.repeat(64),
  manifestSha256: 'd'.repeat(64),
  archiveSizeBytes: 5_000_000_000,
  contentSha256: 'b'.repeat(64),
  reportKey: 'reports/aa.json',
};

/** The tests of the queries for export jobs, which every kind of PostgreSQL must pass. */
export function exportJobsContract(stores: StoreFixture): void {
  let db: Database;
  beforeAll(() => {
    ({ db } = stores);
  });
  const { newProject, newExportJob: insert } = stores;

  it('inserts a queued job and finds it by its id', async () => {
    const project = await newProject();
    const at = new Date('2026-11-21T10:00:00.123Z');
    const job = await insert(project, { paths: ['/a', '/ünï\u0000\ud800'], at });
    expect(job).toMatchObject({ ...project, status: 'queued', progress: 0, pageCount: 0, error: null, createdAt: at });
    expect(job.id).toMatch(/^se_[0-9a-f]{16}$/);
    expect(await getExportJob(db, job.id)).toEqual(job);
    expect(requestedPaths(job)).toEqual(['/a', '/ünï\u0000\ud800']);
    expect(await getExportJob(db, 'se_0000000000000000')).toBeUndefined();
  });

  it('numbers versions by project and day, and skips versions that were requested', async () => {
    const [project, other] = [await newProject(), await newProject()];
    const versions: string[] = [];
    const days = ['2026-11-21', '2026-11-21', '2026-11-22', '2026-11-21'];
    for (const [index, day] of days.entries()) {
      const requested = index === 1 ? { version: '2026-11-21.9' } : {};
      const job = await insert(project, { ...requested, at: new Date(`${day}T23:59:59Z`) });
      versions.push(job.version);
      await failExportJob(db, job.id, 'made room');
    }
    expect(versions).toEqual(['2026-11-21.1', '2026-11-21.9', '2026-11-22.1', '2026-11-21.10']);
    expect((await insert(other, { at: new Date('2026-11-21T00:00:00Z') })).version).toBe('2026-11-21.1');
  });

  it('never assigns a version twice, also after one of the most digits that a client may request', async () => {
    for (const digits of [6, 9, 53]) {
      const project = await newProject();
      const versions: string[] = [];
      for (const version of [`2026-11-21.${'9'.repeat(digits)}`, undefined, undefined]) {
        const job = await insert(project, { ...(version && { version }), at: new Date('2026-11-21T12:00:00Z') });
        versions.push(job.version);
        await failExportJob(db, job.id, 'made room');
      }
      const next = `2026-11-21.1${'0'.repeat(digits)}`;
      expect(versions).toEqual([`2026-11-21.${'9'.repeat(digits)}`, next, next.replace(/0$/, '1')]);
    }
  });

  it('rejects a second active job of a project, and accepts one after the first has ended', async () => {
    const project = await newProject();
    const first = await insert(project);
    await expect(insert(project)).rejects.toThrow();
    expect((await findActiveExportJob(db, project.projectId))?.id).toBe(first.id);
    await failExportJob(db, first.id, 'the origin is down');
    expect(await findActiveExportJob(db, project.projectId)).toBeUndefined();
    await expect(insert(project)).resolves.toMatchObject({ status: 'queued' });
  });

  it('never lowers the progress or the page count', async () => {
    const job = await insert();
    await markExportJobRunning(db, job.id);
    await updateExportJobProgress(db, job.id, { progress: 40.5, pageCount: 20 });
    await updateExportJobProgress(db, job.id, { progress: 30, pageCount: 25 });
    expect(await updateExportJobProgress(db, job.id, { progress: 1, pageCount: 1 })).toMatchObject({
      status: 'running',
      progress: 40.5,
      pageCount: 25,
    });
    expect(await updateExportJobProgress(db, job.id, { progress: 1000, pageCount: 25 })).toMatchObject({
      progress: 100,
    });
  });

  it('keeps the page count if a job completes with a lower one', async () => {
    const job = await insert();
    await markExportJobRunning(db, job.id);
    await updateExportJobProgress(db, job.id, { progress: 10, pageCount: 13 });
    expect(await completeExportJob(db, job.id, RESULT)).toMatchObject({
      ...RESULT,
      pageCount: 13,
      status: 'completed',
      progress: 100,
    });
  });

  it('never changes a job that has ended', async () => {
    const job = await insert();
    await markExportJobRunning(db, job.id);
    const completed = await completeExportJob(db, job.id, RESULT);
    expect(completed?.status).toBe('completed');
    expect(await markExportJobRunning(db, job.id)).toEqual(completed);
    expect(await updateExportJobProgress(db, job.id, { progress: 1, pageCount: 999 })).toEqual(completed);
    expect(await failExportJob(db, job.id, 'late')).toEqual(completed);
    expect(await completeExportJob(db, job.id, { ...RESULT, archiveKey: 'other' })).toEqual(completed);
    expect(await requestExportJobCancel(db, job.id)).toEqual({ accepted: false, job: completed });
    expect(await failExportJob(db, 'se_none', 'no')).toBeUndefined();
    expect(await requestExportJobCancel(db, 'se_none')).toBeUndefined();
  });

  it('fails a queued job at once when it is canceled', async () => {
    const job = await insert();
    const result = await requestExportJobCancel(db, job.id);
    expect(result).toMatchObject({ accepted: true, job: { status: 'failed', error: 'cancelled' } });
    expect(await markExportJobRunning(db, job.id)).toMatchObject({ status: 'failed' });
  });

  it('ends a running job as canceled once its cancel was accepted, even if it completes or fails', async () => {
    for (const end of [
      (id: string) => completeExportJob(db, id, RESULT),
      (id: string) => failExportJob(db, id, 'the disk is full'),
    ]) {
      const job = await insert();
      await markExportJobRunning(db, job.id);
      const result = await requestExportJobCancel(db, job.id);
      expect(result).toMatchObject({ accepted: true, job: { status: 'running', error: null } });
      expect(
        (await updateExportJobProgress(db, job.id, { progress: 5, pageCount: 1 }))?.cancelRequestedAt,
      ).not.toBeNull();
      expect(await end(job.id)).toMatchObject({ status: 'failed', error: 'cancelled', archiveKey: null });
    }
  });

  it('lists for the reconciler only active jobs that have not changed for a while, page by page', async () => {
    const [queued, ended, other] = [await insert(), await insert(), await insert()];
    await failExportJob(db, ended.id, 'ended');
    const list = (untouchedSince: Date, afterSequence: number, limit: number) =>
      listUnsettledExportJobs(db, { untouchedSince, latest: new Date(Date.now() + 3_600_000), afterSequence, limit });
    const later = new Date(Date.now() + 60_000);
    const ids = async (after: number, limit: number) => (await list(later, after, limit)).map((row) => row.id);
    expect(await ids(queued.sequence - 1, 1000)).toEqual([queued.id, other.id]);
    expect(await ids(queued.sequence - 1, 1)).toEqual([queued.id]);
    expect(await ids(queued.sequence, 1)).toEqual([other.id]);
    expect(await list(new Date(0), 0, 1000)).toEqual([]);
  });
}
