import { type AgentJobRow, getAgentJob } from '../../store/agent-jobs.ts';
import { type AgentRun, type AgentRunKey, getAgentRun } from '../../store/agent-runs.ts';
import type { Database } from '../../store/database.ts';

/** A run and its job. Throws if they don't exist: a run's row is never deleted while its workflow runs. */
export async function readRun(db: Database, key: AgentRunKey): Promise<{ job: AgentJobRow; run: AgentRun }> {
  const job = await getAgentJob(db, key.jobId);
  const run = await getAgentRun(db, key);
  if (job === undefined || run === undefined) throw new Error(`There is no run ${key.run} of ${key.jobId}`);
  return { job, run };
}
