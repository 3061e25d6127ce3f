import type { RequestHandler } from 'express';
import { z } from 'zod';
import { type AgentJobPage, agentJobStatus } from '../../../contract/admin-api.ts';
import { parseInput } from '../../parse-input.ts';
import { listAgentJobs } from '../../store/agent-jobs.ts';
import { authenticate } from '../authenticate.ts';
import { cursor, limit, nextCursor } from '../paging.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { agentJobView, findOwnAgentJob, findOwnProject } from './agent-job-view.ts';

export const listAgentJobsQuery = z.strictObject({ status: agentJobStatus.optional(), cursor, limit });

/** `GET /v2/agent/{projectId}/job/{id}` */
export function getAgentJobHandler({ db }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    response.json(agentJobView(await findOwnAgentJob(db, caller, request.params)));
  };
}

/** `GET /v2/agent/{projectId}/jobs`: newest first; `nextCursor` is null on the last page. */
export function listAgentJobsHandler({ db }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const { id: projectId } = await findOwnProject(db, caller, request.params.projectId);
    const { status, cursor: beforeSequence, limit } = parseInput(listAgentJobsQuery, request.query);
    // One row more than requested shows whether there is another page.
    const rows = await listAgentJobs(db, { projectId, status, beforeSequence, limit: limit + 1 });
    const page: AgentJobPage = {
      jobs: rows.slice(0, limit).map(agentJobView),
      nextCursor: nextCursor(rows, limit),
    };
    response.json(page);
  };
}
