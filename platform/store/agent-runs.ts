import { and, asc, eq, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Executor } from './database.ts';
import { agentRuns } from './schema/agent-jobs.ts';
import { storableText } from './storable-text.ts';

type AgentRunRow = typeof agentRuns.$inferSelect;

/** A run with its prompt exactly as sent, including NUL and lone surrogates. */
export type AgentRun = Omit<AgentRunRow, 'promptJson'> & { prompt: string };

export type AgentRunKey = { jobId: string; run: number };

/** The agent's result. `packKey` is the object with the git pack of `tree`; `error` is for the job's owner. */
export type AgentRunOutcome =
  | { kind: 'changed'; tree: string; packKey: string }
  | { kind: 'unchanged' }
  | { kind: 'failed'; error: string };

const isRun = ({ jobId, run }: AgentRunKey) => and(eq(agentRuns.jobId, jobId), eq(agentRuns.run, run));

export function toAgentRun({ promptJson, ...row }: AgentRunRow): AgentRun {
  return { ...row, prompt: readPrompt(promptJson) };
}

function readPrompt(promptJson: string): string {
  return z.string().parse(JSON.parse(promptJson));
}

export async function getAgentRun(db: Executor, key: AgentRunKey): Promise<AgentRun | undefined> {
  const [row] = await db.select().from(agentRuns).where(isRun(key));
  return row && toAgentRun(row);
}

/** A job's runs before `beforeRun` that had something to push, in order, without their prompts. */
export async function listEarlierPushes(
  db: Executor,
  { jobId, beforeRun }: { jobId: string; beforeRun: number },
): Promise<Pick<AgentRun, 'run' | 'prLink'>[]> {
  return db
    .select({ run: agentRuns.run, prLink: agentRuns.prLink })
    .from(agentRuns)
    .where(and(eq(agentRuns.jobId, jobId), lt(agentRuns.run, beforeRun), isNotNull(agentRuns.commit)))
    .orderBy(asc(agentRuns.run));
}

/** The prompts of those runs of a job, in the order of the runs. */
export async function listRunPrompts(
  db: Executor,
  { jobId, runs }: { jobId: string; runs: readonly number[] },
): Promise<string[]> {
  const rows = await db
    .select({ promptJson: agentRuns.promptJson })
    .from(agentRuns)
    .where(and(eq(agentRuns.jobId, jobId), inArray(agentRuns.run, [...runs])))
    .orderBy(asc(agentRuns.run));
  return rows.map(({ promptJson }) => readPrompt(promptJson));
}

/** The first prompt of each of these jobs, by the job's id. */
export async function listFirstPrompts(db: Executor, jobIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .select({ jobId: agentRuns.jobId, promptJson: agentRuns.promptJson })
    .from(agentRuns)
    .where(and(inArray(agentRuns.jobId, [...jobIds]), eq(agentRuns.run, 1)));
  return new Map(rows.map(({ jobId, promptJson }) => [jobId, readPrompt(promptJson)]));
}

/** The log objects of a job's runs, in order, without runs that have none yet. */
export async function listAgentRunLogs(
  db: Executor,
  jobId: string,
): Promise<{ run: number; logKey: string; startedAt: Date | null }[]> {
  const rows = await db
    .select({ run: agentRuns.run, logKey: agentRuns.logKey, startedAt: agentRuns.startedAt })
    .from(agentRuns)
    .where(eq(agentRuns.jobId, jobId))
    .orderBy(asc(agentRuns.run));
  return rows.flatMap(({ logKey, ...row }) => (logKey === null ? [] : [{ ...row, logKey }]));
}

/** Stores the run's start. The first writer wins; returns the stored one. Throws if there is no such run. */
export async function keepRunBase(
  db: Executor,
  { baseCommit, ...key }: AgentRunKey & { baseCommit: string },
): Promise<string> {
  const [row] = await db
    .update(agentRuns)
    .set({ baseCommit: sql`coalesce(${agentRuns.baseCommit}, ${baseCommit})` })
    .where(isRun(key))
    .returning({ kept: agentRuns.baseCommit });
  return row?.kept ?? missing(key);
}

/**
 * Stores the commit to be pushed, and which pull request of the branch had ended by then. The last writer wins:
 * attempts on different releases may make different commits, and one that wasn't pushed is lost. False if the run is
 * over or canceled: then don't push.
 */
export async function keepRunCommit(
  db: Executor,
  { commit, endedPrLink, ...key }: AgentRunKey & { commit: string; endedPrLink: string | null },
): Promise<boolean> {
  const goesOn = sql`exists (
    select from agent_jobs
    where id = ${key.jobId} and run = ${key.run} and status = 'active' and cancel_requested_at is null)`;
  const [row] = await db
    .update(agentRuns)
    .set({ commit, endedPrLink })
    .where(and(isRun(key), goesOn))
    .returning({ run: agentRuns.run });
  return row !== undefined;
}

/** Stores the agent's result. The first writer wins; returns the stored one. Throws if there is no such run. */
export async function keepRunOutcome(
  db: Executor,
  { outcome, ...key }: AgentRunKey & { outcome: AgentRunOutcome },
): Promise<AgentRunOutcome> {
  await db
    .update(agentRuns)
    .set({
      outcomeKind: outcome.kind,
      outcomeTree: outcome.kind === 'changed' ? outcome.tree : null,
      outcomePackKey: outcome.kind === 'changed' ? outcome.packKey : null,
      outcomeError: outcome.kind === 'failed' ? storableText(outcome.error) : null,
    })
    .where(and(isRun(key), isNull(agentRuns.outcomeKind)));
  const row = await getAgentRun(db, key);
  return (row && keptOutcome(row)) ?? missing(key);
}

/** The stored result; undefined if there is none yet. */
export function keptOutcome(run: AgentRun): AgentRunOutcome | undefined {
  if (run.outcomeKind === null) return undefined;
  if (run.outcomeKind === 'unchanged') return { kind: 'unchanged' };
  if (run.outcomeKind === 'failed') return { kind: 'failed', error: run.outcomeError ?? '' };
  if (run.outcomeTree === null || run.outcomePackKey === null) {
    throw new Error(`The run ${run.run} of ${run.jobId} changed something, but what is not kept`);
  }
  return { kind: 'changed', tree: run.outcomeTree, packKey: run.outcomePackKey };
}

type StoredLog = { logKey: string; logSizeBytes: number };

/** Stores the object of the run's log. A later writer, such as a retry, replaces it. */
export async function keepRunLog(
  db: Executor,
  { logKey, logSizeBytes, ...key }: AgentRunKey & StoredLog,
): Promise<void> {
  await db.update(agentRuns).set({ logKey, logSizeBytes }).where(isRun(key));
}

/** Those of the keys that are packs of runs that ended before this time. */
export async function packsOfEndedRuns(db: Executor, keys: readonly string[], endedBefore: Date): Promise<string[]> {
  const { rows } = await db.execute<{ key: string }>(sql`
    select key from unnest(${sql.param(keys)}::text[]) as keys (key)
    join agent_runs on job_id = split_part(key, '/', 2) and run::text = split_part(key, '/', 3)
    where split_part(key, '/', 4) = 'packs' and finished_at < ${endedBefore.toISOString()}`);
  return rows.map(({ key }) => key);
}

function missing({ jobId, run }: AgentRunKey): never {
  throw new Error(`There is no run ${run} of the agent job ${jobId}`);
}
