import { and, eq, sql } from 'drizzle-orm';
import { CANCELLED } from '../../contract/admin-api.ts';
import { type AgentJobRow, getAgentJob } from './agent-jobs.ts';
import { type AgentRun, type AgentRunKey, toAgentRun } from './agent-runs.ts';
import type { Executor } from './database.ts';
import { agentJobs, agentRuns } from './schema/agent-jobs.ts';
import { storableText } from './storable-text.ts';

/**
 * active → completed or failed; completed or failed → archived; completed or failed → active by a message, as the next
 * run. A job and its run change together. Each function locks the job's row first, so concurrent calls are serialized,
 * and names its run, so a late call can't change a job that has moved on.
 */

const now = sql`greatest(${agentJobs.updatedAt}, now())`;

type JobChange = Pick<typeof agentJobs.$inferInsert, 'status' | 'prLink' | 'error'>;

/**
 * Begins a run, or continues one that has begun. Undefined if it is over: another run is current, it has ended, or its
 * cancel was accepted. A canceled run ends here, because nothing else works on it yet.
 */
export function beginAgentRun(
  db: Executor,
  { jobId, run }: AgentRunKey,
): Promise<{ job: AgentJobRow; run: AgentRun } | undefined> {
  return db.transaction(async (tx) => {
    const job = await lockAgentJob(tx, jobId);
    if (job === undefined || !isTurnOf(job, run)) return undefined;
    if (job.cancelRequestedAt !== null) {
      await endRun(tx, job, { status: 'failed', prLink: null, error: CANCELLED });
      return undefined;
    }
    const [begun] = await tx
      .update(agentRuns)
      .set({ startedAt: sql`coalesce(${agentRuns.startedAt}, now())` })
      .where(and(eq(agentRuns.jobId, jobId), eq(agentRuns.run, run)))
      .returning();
    return begun && { job, run: toAgentRun(begun) };
  });
}

/**
 * Completes a run. If its cancel was accepted before, it fails as canceled but keeps its pull request. Without a link
 * the job shows the pull request of an earlier run, if there is one. Returns the current row (undefined: no such job).
 */
export function completeAgentRun(
  db: Executor,
  { jobId, run, prLink }: AgentRunKey & { prLink: string | null },
): Promise<AgentJobRow | undefined> {
  return changeRun(db, { jobId, run }, { status: 'completed', prLink, error: null });
}

/** Fails a run with a message for the job's owner (`cancelled` if it was). Returns the current row. */
export function failAgentRun(
  db: Executor,
  { jobId, run, error }: AgentRunKey & { error: string },
): Promise<AgentJobRow | undefined> {
  return changeRun(db, { jobId, run }, { status: 'failed', prLink: null, error: storableText(error) });
}

function changeRun(db: Executor, { jobId, run }: AgentRunKey, end: RunEnd): Promise<AgentJobRow | undefined> {
  return db.transaction(async (tx) => {
    const job = await lockAgentJob(tx, jobId);
    if (job === undefined || !isTurnOf(job, run)) return job;
    // The pull request exists even if the cancel came meanwhile, so show it.
    return endRun(tx, job, job.cancelRequestedAt === null ? end : { ...end, status: 'failed', error: CANCELLED });
  });
}

type RunEnd = { status: 'completed' | 'failed'; prLink: string | null; error: string | null };

/** The caller holds the job's lock and has checked that the run is active. */
async function endRun(tx: Executor, job: AgentJobRow, end: RunEnd): Promise<AgentJobRow> {
  await tx
    .update(agentRuns)
    .set({ status: end.status, prLink: end.prLink, finishedAt: sql`now()` })
    .where(and(eq(agentRuns.jobId, job.id), eq(agentRuns.run, job.run)));
  const prLink = end.prLink ?? (await earlierPullRequest(tx, job));
  return changeJob(tx, job.id, { status: end.status, prLink, error: end.error });
}

/** An earlier run's pull request still exists if a later run changed nothing or failed. */
async function earlierPullRequest(tx: Executor, { id }: AgentJobRow): Promise<string | null> {
  const [row] = await tx
    .select({ prLink: agentRuns.prLink })
    .from(agentRuns)
    .where(and(eq(agentRuns.jobId, id), sql`${agentRuns.prLink} is not null`))
    .orderBy(sql`${agentRuns.run} desc`)
    .limit(1);
  return row?.prLink ?? null;
}

/**
 * Cancels an active job: it fails immediately if its run hasn't begun, otherwise when its workflow has stopped.
 * `accepted` is false if it had already ended; undefined: no such job.
 */
export function requestAgentJobCancel(
  db: Executor,
  jobId: string,
): Promise<{ accepted: boolean; job: AgentJobRow } | undefined> {
  return db.transaction(async (tx) => {
    const job = await lockAgentJob(tx, jobId);
    if (job === undefined) return undefined;
    if (job.status !== 'active') return { accepted: false, job };
    const [requested] = await tx
      .update(agentJobs)
      .set({ cancelRequestedAt: sql`coalesce(${agentJobs.cancelRequestedAt}, now())`, updatedAt: now })
      .where(eq(agentJobs.id, jobId))
      .returning();
    const [run] = await tx
      .select({ startedAt: agentRuns.startedAt })
      .from(agentRuns)
      .where(and(eq(agentRuns.jobId, jobId), eq(agentRuns.run, job.run)));
    if (requested === undefined || run === undefined) throw new Error(`The agent job ${jobId} has lost its run`);
    if (run.startedAt !== null) return { accepted: true, job: requested };
    return { accepted: true, job: await endRun(tx, requested, { status: 'failed', prLink: null, error: CANCELLED }) };
  });
}

/** Archives an ended job. Archived and active jobs are returned unchanged (undefined: no such job). */
export async function archiveAgentJob(db: Executor, jobId: string): Promise<AgentJobRow | undefined> {
  const [row] = await db
    .update(agentJobs)
    .set({ status: 'archived', archivedAt: sql`now()`, updatedAt: now })
    .where(and(eq(agentJobs.id, jobId), sql`${agentJobs.status} in ('completed', 'failed')`))
    .returning();
  return row ?? getAgentJob(db, jobId);
}

/**
 * Makes an ended job active again, with the message as its next run. `accepted` is false if the job is active or
 * archived, and nothing changes; undefined: no such job.
 */
export function addAgentMessage(
  db: Executor,
  { jobId, prompt, at }: { jobId: string; prompt: string; at: Date },
): Promise<{ accepted: boolean; job: AgentJobRow } | undefined> {
  return db.transaction(async (tx) => {
    const job = await lockAgentJob(tx, jobId);
    if (job === undefined) return undefined;
    if (job.status === 'active' || job.status === 'archived') return { accepted: false, job };
    const run = job.run + 1;
    await tx.insert(agentRuns).values({ jobId, run, promptJson: JSON.stringify(prompt), createdAt: at });
    const change = { status: 'active', prLink: null, error: null } as const;
    return { accepted: true, job: await changeJob(tx, jobId, { ...change, run, cancelRequestedAt: null }) };
  });
}

async function lockAgentJob(tx: Executor, jobId: string): Promise<AgentJobRow | undefined> {
  const [row] = await tx.select().from(agentJobs).where(eq(agentJobs.id, jobId)).for('update');
  return row;
}

function isTurnOf(job: AgentJobRow, run: number): boolean {
  return job.status === 'active' && job.run === run;
}

async function changeJob(
  tx: Executor,
  jobId: string,
  change: JobChange & { run?: number; cancelRequestedAt?: null },
): Promise<AgentJobRow> {
  const [row] = await tx
    .update(agentJobs)
    .set({ ...change, updatedAt: now })
    .where(eq(agentJobs.id, jobId))
    .returning();
  if (row === undefined) throw new Error(`The database returned no row for the agent job ${jobId}`);
  return row;
}
