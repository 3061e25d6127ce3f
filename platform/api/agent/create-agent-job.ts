import type { RequestHandler } from 'express';
import { promptRequest } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../contract/http-error.ts';
import { parseInput } from '../../parse-input.ts';
import { insertAgentJob } from '../../store/agent-jobs.ts';
import { authenticate } from '../authenticate.ts';
import { readJsonBody } from '../json-body.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { acceptPrompt } from './accept-prompt.ts';
import { findOwnProject } from './agent-job-view.ts';

/** `POST /v2/agent/{projectId}/job`: 201 and the job; 400 also if the project has no repository. */
export function createAgentJobHandler(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(context.db, request);
    const project = await findOwnProject(context.db, caller, request.params.projectId);
    const body = parseInput(promptRequest, await readJsonBody(request, response));
    const { id: projectId, organizationId, repository, ref } = project;
    await acceptPrompt(context, {
      ...{ request, response, organizationId, projectId, body, status: 201 },
      accept: async (tx, at) => {
        if (repository === null) throw new HttpError(400, lacksRepository(projectId));
        const { agentModel: model } = context;
        return insertAgentJob(tx, { organizationId, projectId, repository, ref, model, prompt: body.prompt, at });
      },
    });
  };
}

function lacksRepository(projectId: string): string {
  return (
    `The project ${projectId} has no repository for an agent to work on: ` +
    `name one with galley projects set --project ${projectId} --repository URL`
  );
}
