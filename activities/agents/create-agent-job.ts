import { ApplicationFailure } from '@temporalio/common';
import { type CallAdminApi, temporaryFailure } from '../admin-api/call-admin-api.ts';
import { describeResponse, finalFailure } from '../admin-api/outcomes.ts';
import { textField } from '../admin-api/response-fields.ts';
import { unreadable } from '../admin-api/start-export.ts';
import type { ReadSite } from '../sites/read-site.ts';
import { agentJobPath } from './agent-job.ts';
import { type AgentPrompt, createRenderAgentPrompt, type RenderAgentPromptInput } from './render-agent-prompt.ts';

export type CreateAgentJobInput = AgentPrompt & {
  site: string;
  rule: string;
  /** The same for every attempt, so a lost response creates no second job. */
  idempotencyKey: string;
};

/** What workflows of releases before 0.2 pass: each attempt renders the prompt. */
type UnrenderedAgentJobInput = RenderAgentPromptInput & Pick<CreateAgentJobInput, 'idempotencyKey'>;

/**
 * The project is kept with the job: if the configuration names another project later, that one doesn't have this job.
 */
type CreatedAgentJob = { projectId: string; jobId: string };

/**
 * Creates an agent job. Every attempt sends the same project and text, so the service recognizes a repeated request by
 * its key even if the rule was edited in between.
 */
export function createCreateAgentJob(call: CallAdminApi, { readSite }: { readSite: ReadSite }) {
  const render = createRenderAgentPrompt(readSite);
  return async function createAgentJob(input: CreateAgentJobInput | UnrenderedAgentJobInput): Promise<CreatedAgentJob> {
    const { projectId, prompt } = 'prompt' in input ? input : await render(input);
    const request = {
      method: 'POST',
      path: agentJobPath({ projectId }),
      body: { prompt },
      headers: { 'idempotency-key': input.idempotencyKey },
    } as const;
    const { verdict, response } = await call('prompt', request).catch(explainReusedKey);
    if (verdict !== 'success') throw finalFailure('Rejected', describeResponse(request, response), response.status);
    const jobId = textField(response, 'id');
    // The response may have been cut. The same key returns the same job.
    if (jobId === undefined) throw temporaryFailure(unreadable(response.status, 'id', response.text), response.status);
    return { projectId, jobId };
  };
}

/** 422 can also mean a reused key: a release before 0.2 may have sent another text with it. */
function explainReusedKey(error: unknown): never {
  if (error instanceof ApplicationFailure && statusOf(error) === 422) {
    const message = `${error.message} (if this is about the Idempotency-Key: an earlier attempt sent another prompt with it, the response was lost, and that attempt's job exists)`;
    throw finalFailure('Rejected', message, 422);
  }
  throw error;
}

function statusOf({ details }: ApplicationFailure): unknown {
  const first: unknown = details?.[0];
  return typeof first === 'object' && first !== null && 'status' in first ? first.status : undefined;
}
