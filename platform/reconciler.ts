import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { storeFailedReport } from '../exporter/assemble/report.ts';
import { BUNDLES_FOLDER, WORK_FOLDER } from '../exporter/object-keys.ts';
import { createAgentWorkflows } from './agent-workflows.ts';
import { deleteDiscarded } from './delete-discarded.ts';
import { createExportWorkflows, type ExportWorkflows } from './export-workflows.ts';
import { createIntervalLoop } from './interval-loop.ts';
import { dropUnfinished } from './objects/drop-unfinished.ts';
import type { ObjectStore } from './objects/object-store.ts';
import { settleAgentJob } from './settle-agent-job.ts';
import { listUnsettledAgentJobs } from './store/agent-jobs.ts';
import { createCrawlStore } from './store/crawl-store.ts';
import type { Database } from './store/database.ts';
import { failExportJob } from './store/export-job-transitions.ts';
import { type ExportJobRow, getExportJob, listUnsettledExportJobs } from './store/export-jobs.ts';
import { deleteExpiredResponses } from './store/idempotency-keys.ts';
import { withoutValues } from './store/query-error.ts';
import { deleteUsesOutside } from './store/usage-log.ts';
import { sweepExports } from './sweep-exports.ts';
import { lostReason, type WorkflowState } from './workflow-state.ts';

const PAGE_SIZE = 100;

type Page = { untouchedSince: Date; latest: Date; afterSequence: number; limit: number };

/** Longer than the window of any limit. */
const USES_KEPT_MS = 86_400_000;

/** Objects left by ended jobs do no harm, so the sweep is rare. */
const SWEEP_INTERVAL_MS = 3_600_000;
/** No activity that uploads may take longer than a quarter of this. */
const UPLOAD_MS = 86_400_000;
/** A worker that returns later than this after its job's end leaves objects for the next sweep. */
const SWEEP_AFTER_MS = 600_000;

/** Clocks of processes differ by less; a time further ahead comes from a wrong clock. */
const CLOCK_ERROR_MS = 3_600_000;

/** Time to replace a worker of a broken release, so that its jobs can continue. */
const STUCK_AFTER_MS = 30 * 60_000;

type Reconciler = {
  /** Runs now and after each interval. */
  start(): void;
  /** Stops after the current turn. */
  stop(): Promise<void>;
  /** One turn. Throws if the database or Temporal is unavailable. */
  reconcile(): Promise<void>;
};

export type ReconcilerDeps = {
  db: Database;
  objects: ObjectStore;
  temporalClient: Client;
  logger: Logger;
  taskQueue?: string;
  intervalMs?: number;
  /** How long a row must have been unchanged before it is checked, because its workflow may be about to update it. */
  graceMs?: number;
  /** The clock, in milliseconds since 1970. */
  now?: () => number;
};

/**
 * Reconciles jobs with their workflows: starts missing workflows, repeats cancels, and fails jobs whose
 * workflow has ended, is gone or can't continue. It does nothing while Temporal is unavailable. Every step is
 * idempotent, so any number of processes may do this at once. It also deletes expired rows and the stored objects of
 * removed projects. Agent jobs need no sweep: their logs stay, and a run's packs are deleted at its end.
 */
export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const {
    db,
    objects,
    temporalClient,
    logger,
    taskQueue,
    intervalMs = 10_000,
    graceMs = 10_000,
    now = Date.now,
  } = deps;
  const client = { client: temporalClient, ...(taskQueue !== undefined && { taskQueue }) };
  const workflows = createExportWorkflows(client);
  const agentWorkflows = createAgentWorkflows(client);
  let nextSweepAt = 0;
  const loop = createIntervalLoop({
    intervalMs,
    async turn() {
      await reconcile();
      return false;
    },
    onFailure(error) {
      logger.warn(
        { err: withoutValues(error), retryInMs: intervalMs },
        'Jobs and workflows could not be compared; retrying',
      );
    },
  });

  async function reconcile(): Promise<void> {
    const failingBefore = new Date(now() - STUCK_AFTER_MS);
    await settleEach(listUnsettledExportJobs, (row) => settle(row, { db, objects, workflows, logger, failingBefore }));
    const settling = { db, objects, workflows: agentWorkflows, logger, failingBefore };
    await settleEach(listUnsettledAgentJobs, (job) => settleAgentJob(job, settling));
    if (loop.signal.aborted) return;
    const nowMs = now();
    await deleteExpired(deps, nowMs);
    if (nowMs >= nextSweepAt) await sweep(nowMs);
  }

  async function settleEach<Row extends { sequence: number }>(
    list: (db: Database, page: Page) => Promise<Row[]>,
    settleRow: (row: Row) => Promise<void>,
  ): Promise<void> {
    const nowMs = now();
    const untouchedSince = new Date(nowMs - graceMs);
    const latest = new Date(nowMs + CLOCK_ERROR_MS);
    let afterSequence = 0;
    for (;;) {
      const rows = await list(db, { untouchedSince, latest, afterSequence, limit: PAGE_SIZE });
      for (const row of rows) {
        if (loop.signal.aborted) return;
        await settleRow(row);
      }
      afterSequence = rows.at(-1)?.sequence ?? afterSequence;
      if (rows.length < PAGE_SIZE) return;
    }
  }

  async function sweep(nowMs: number): Promise<void> {
    nextSweepAt = nowMs + SWEEP_INTERVAL_MS;
    const endedBefore = new Date(nowMs - SWEEP_AFTER_MS);
    const deletedCount = await sweepExports({ db, objects, endedBefore, signal: loop.signal });
    if (deletedCount > 0) logger.info({ deletedCount }, 'Deleted what ended exports had left in the object store');
    const prefixes = [WORK_FOLDER, BUNDLES_FOLDER];
    await dropUnfinished({ objects, logger }, { prefixes, begunBefore: new Date(nowMs - UPLOAD_MS) });
  }

  return { reconcile, start: loop.start, stop: loop.stop };
}

/** Deletes expired rows and what removed projects left in the object store. */
async function deleteExpired({ db, objects }: ReconcilerDeps, nowMs: number): Promise<void> {
  const at = new Date(nowMs);
  await deleteExpiredResponses(db, at);
  await deleteUsesOutside(db, { until: new Date(nowMs - USES_KEPT_MS), latest: new Date(nowMs + CLOCK_ERROR_MS) });
  await deleteDiscarded({ db, objects, at, lateAfterMs: UPLOAD_MS, limit: PAGE_SIZE });
}

/** The row was read before its workflow, so it may have changed; every update is guarded. */
async function settle(
  row: ExportJobRow,
  { db, objects, workflows, logger, failingBefore }: SettlingDeps,
): Promise<void> {
  const workflow = await workflows.look(row.id);
  if (workflow.state === 'unknown' && row.status === 'queued') {
    await workflows.start(row.id);
    logger.info({ jobId: row.id }, 'Started the workflow of a queued export that had none');
    return;
  }
  if (workflow.state === 'running' && !isStuck(row, workflow, failingBefore)) {
    if (row.cancelRequestedAt !== null) await workflows.cancel(row.id);
    return;
  }
  // Its workflow may have completed it since it was listed.
  if (!isActive(await getExportJob(db, row.id))) return;
  const error = lostReason('export', workflow);
  const reportKey = await storeFailedReport({ store: createCrawlStore(db), objects, logger }, row.id);
  await failExportJob(db, row.id, error, reportKey);
  logger.warn(
    { jobId: row.id, workflow: workflow.state, reason: error },
    'Failed an export without a working workflow',
  );
  // After the row, so that the workflow finds the job over, whatever it still does.
  if (workflow.state === 'running') await workflows.terminate(row.id, error);
}

function isActive(job: ExportJobRow | undefined): boolean {
  return job?.status === 'queued' || job?.status === 'running';
}

type SettlingDeps = {
  db: Database;
  objects: ObjectStore;
  workflows: ExportWorkflows;
  logger: Logger;
  failingBefore: Date;
};

/** An activity that makes progress may still end, and then the workflow task succeeds. */
function isStuck(
  { updatedAt }: ExportJobRow,
  { failingSince }: Extract<WorkflowState, { state: 'running' }>,
  failingBefore: Date,
): boolean {
  return failingSince !== null && failingSince < failingBefore && updatedAt < failingBefore;
}
