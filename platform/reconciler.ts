import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { storeFailedReport } from '../exporter/assemble/report.ts';
import { createAgentWorkflows } from './agent-workflows.ts';
import { createExportWorkflows, type ExportWorkflows } from './export-workflows.ts';
import { createIntervalLoop } from './interval-loop.ts';
import type { ObjectStore } from './objects/object-store.ts';
import { settleAgentJob } from './settle-agent-job.ts';
import { listUnsettledAgentJobs } from './store/agent-jobs.ts';
import { createCrawlStore } from './store/crawl-store.ts';
import type { Database } from './store/database.ts';
import { failExportJob } from './store/export-job-transitions.ts';
import { type ExportJobRow, getExportJob, listUnsettledExportJobs } from './store/export-jobs.ts';
import { withoutValues } from './store/query-error.ts';
import { lostReason, type WorkflowState } from './workflow-state.ts';

const PAGE_SIZE = 100;

type Page = { untouchedSince: Date; latest: Date; afterSequence: number; limit: number };

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
 * idempotent, so any number of processes may do this at once.
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

  return { reconcile, start: loop.start, stop: loop.stop };
}

/** The row was read before its workflow, so it may have changed; every update is guarded. */
async function settle(
  row: ExportJobRow,
  { db, objects, workflows, logger, failingBefore }: SettlingDeps,
): Promise<void> {
  const workflow = await workflows.look(row.id);
  if (workflow.state === 'unknown' && row.status === 'queued') {
    await workflows.start(row.id, row.domain);
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
