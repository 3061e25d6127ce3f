import type { RequestHandler } from 'express';
import { promptRequest } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../contract/http-error.ts';
import { parseInput } from '../../parse-input.ts';
import { addAgentMessage } from '../../store/agent-job-transitions.ts';
import { authenticate } from '../authenticate.ts';
import { readJsonBody } from '../json-body.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { acceptPrompt } from './accept-prompt.ts';
import { findOwnAgentJob } from './agent-job-view.ts';

/** `POST /v2/agent/{projectId}/job/{id}/message`: an ended job continues on the same branch and pull request. */
export function messageAgentJobHandler(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(context.db, request);
    const { id: jobId, organizationId, projectId } = await findOwnAgentJob(context.db, caller, request.params);
    const body = parseInput(promptRequest, await readJsonBody(request, response));
    await acceptPrompt(context, {
      ...{ request, response, organizationId, projectId, body, status: 200 },
      accept: async (tx, at) => {
        const outcome = await addAgentMessage(tx, { jobId, prompt: body.prompt, at });
        if (outcome === undefined) throw new HttpError(404, 'There is no such agent job in this project');
        if (outcome.accepted) return outcome.job;
        const { status } = outcome.job;
        const wayOut = status === 'active' ? 'send the message once it has ended' : 'make a new job';
        throw new HttpError(409, `The job ${jobId} is ${status} and takes no message: ${wayOut}`);
      },
    });
  };
}
