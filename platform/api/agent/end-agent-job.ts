import type { RequestHandler } from 'express';
import type { AgentCancellation } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../contract/http-error.ts';
import { archiveAgentJob, requestAgentJobCancel } from '../../store/agent-job-transitions.ts';
import { authenticate } from '../authenticate.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { agentJobView, findOwnAgentJob } from './agent-job-view.ts';

/**
 * `POST /v2/agent/{projectId}/job/{id}/cancel`: a run that hasn't begun fails immediately, otherwise when its work has
 * stopped.
 */
export function cancelAgentJobHandler({ db, cancelAgentJob, logger }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const { id } = await findOwnAgentJob(db, caller, request.params);
    const outcome = await requestAgentJobCancel(db, id);
    if (outcome === undefined) throw new HttpError(404, 'There is no such agent job in this project');
    const { accepted, job } = outcome;
    if (accepted) {
      // Not awaited: the request is in the row, which the work reads at its end and the reconciler before that.
      cancelAgentJob({ jobId: id, run: job.run }).catch((error: unknown) => {
        logger.warn({ err: error, jobId: id }, 'The agent run could not be cancelled now; the reconciler will');
      });
    }
    const answer: AgentCancellation = { result: accepted ? 'accepted' : 'already-finished', job: agentJobView(job) };
    response.json(answer);
  };
}

/** `POST /v2/agent/{projectId}/job/{id}/archive`: an ended job takes no more messages. Idempotent. */
export function archiveAgentJobHandler({ db }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const { id } = await findOwnAgentJob(db, caller, request.params);
    const job = await archiveAgentJob(db, id);
    if (job === undefined) throw new HttpError(404, 'There is no such agent job in this project');
    if (job.status !== 'archived') {
      throw new HttpError(409, `The job ${id} is ${job.status}: cancel it, or wait for its end, before archiving it`);
    }
    response.json(agentJobView(job));
  };
}
