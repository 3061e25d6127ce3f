import { z } from 'zod';
import { type AgentJobPage, agentJobStatus } from '../../../contract/admin-api.ts';
import { listAgentJobs } from '../../store/agent-jobs.ts';
import { cursor, limit, nextCursor } from '../paging.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { agentJobView } from './agent-job-view.ts';

export const listAgentJobsQuery = z.strictObject({
  status: agentJobStatus.optional().meta({ description: 'Only jobs with this status.' }),
  cursor,
  limit,
});

/** A project's jobs, newest first; `nextCursor` is null on the last page. */
export async function listProjectJobs(
  { db }: ApiContext,
  projectId: string,
  { status, cursor: beforeSequence, limit }: z.output<typeof listAgentJobsQuery>,
): Promise<AgentJobPage> {
  // One row more than requested shows whether there is another page.
  const rows = await listAgentJobs(db, { projectId, status, beforeSequence, limit: limit + 1 });
  return { jobs: rows.slice(0, limit).map(agentJobView), nextCursor: nextCursor(rows, limit) };
}
