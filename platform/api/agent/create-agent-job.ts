import type { PromptRequest } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import { insertAgentJob } from '../../store/agent-jobs.ts';
import type { Caller } from '../../store/api-keys.ts';
import { getProject, type Project } from '../../store/projects.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { acceptPrompt, type Idempotency, type PromptAnswer } from './accept-prompt.ts';

type Create = { project: Project; body: PromptRequest; idempotency: Idempotency };

/** Creates a job of the caller's project. Throws 400 (it has no repository), 422 and 429. */
export async function createAgentJob(
  context: ApiContext,
  caller: Caller,
  { project, body: { prompt }, idempotency }: Create,
): Promise<PromptAnswer> {
  const { id: projectId, organizationId, repository, ref } = project;
  return acceptPrompt(context, {
    ...{ caller, projectId, idempotency, status: 201, action: 'agent.create' },
    accept: async (tx, at) => {
      if (repository === null) throw new HttpError(400, lacksRepository(projectId));
      // Under the prompt lock, which a project's removal takes as well.
      if ((await getProject(tx, projectId)) === undefined)
        throw new HttpError(404, `The project ${projectId} was removed`);
      const { agentModel: model } = context;
      return insertAgentJob(tx, { organizationId, projectId, repository, ref, model, prompt, at });
    },
  });
}

function lacksRepository(projectId: string): string {
  return (
    `The project ${projectId} has no repository for an agent to work on: ` +
    `name one with galley projects set --project ${projectId} --repository URL`
  );
}
