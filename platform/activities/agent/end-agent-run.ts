import type { Logger } from 'pino';
import type { ObjectStore } from '../../objects/object-store.ts';
import { completeAgentRun, failAgentRun } from '../../store/agent-job-transitions.ts';
import { type AgentRunKey, getAgentRun, keptOutcome } from '../../store/agent-runs.ts';
import type { Database } from '../../store/database.ts';
import { withHeartbeat } from '../with-heartbeat.ts';
import { forgetPacks } from './forget-packs.ts';

/** `error` null: the agent itself failed; its stored error is reported. */
export type AgentRunResult = { kind: 'completed'; prLink: string | null } | { kind: 'failed'; error: string | null };

/** How the run ended, now or before; `failed` includes canceled. `over`: a later run has begun. */
type EndedRun = { status: 'completed' | 'failed' | 'over' };

/** Ends a run unless it has ended, and deletes what only its steps needed. The log stays. */
export function endAgentRun(deps: EndingDeps, ending: AgentRunKey & { result: AgentRunResult }): Promise<EndedRun> {
  const { logger } = deps;
  return withHeartbeat({ details: () => 'recording the end', logger }, () => recordEnd(deps, ending));
}

type EndingDeps = { db: Database; objects: ObjectStore; logger: Logger };

async function recordEnd(
  { db, objects, logger }: EndingDeps,
  { jobId, run, result }: AgentRunKey & { result: AgentRunResult },
): Promise<EndedRun> {
  const key = { jobId, run };
  // Delete before the row is marked as ended: then a message can start the next run.
  await forgetPacks(objects, key).catch((error: unknown) => {
    logger.warn({ err: error, ...key }, 'What an agent run worked with could not be removed');
  });
  const job =
    result.kind === 'completed'
      ? await completeAgentRun(db, { ...key, prLink: result.prLink })
      : await failAgentRun(db, { ...key, error: result.error ?? (await agentError(db, key)) });
  if (job?.run !== run || job.status === 'active' || job.status === 'archived') return { status: 'over' };
  // Log only the first line, which is Galley's; the rest is the agent's output.
  if (job.status === 'failed') logger.info({ ...key, reason: job.error?.split('\n')[0] }, 'An agent run failed');
  return { status: job.status };
}

async function agentError(db: Database, key: AgentRunKey): Promise<string> {
  const row = await getAgentRun(db, key);
  const outcome = row && keptOutcome(row);
  return outcome?.kind === 'failed' && outcome.error !== '' ? outcome.error : 'The agent failed';
}
