import { ApplicationFailure } from '@temporalio/common';
import type { AdminApiClient } from '../../client/admin-api-client.ts';
import type { CallAdminApi } from '../admin-api/call-admin-api.ts';
import { finalFailure } from '../admin-api/outcomes.ts';
import type { AgentPrompt } from './render-agent-prompt.ts';

export type CreateAgentJobInput = AgentPrompt & {
  site: string;
  rule: string;
  /** The same for every attempt, so a lost response creates no second job. */
  idempotencyKey: string;
};

/**
 * The project is kept with the job: if the configuration names another project later, that one doesn't have this job.
 */
type CreatedAgentJob = { projectId: string; jobId: string };

/**
 * Creates an agent job. Every attempt sends the same project and text, so the service recognizes a repeated request by
 * its key even if the rule was edited in between.
 */
export function createCreateAgentJob(call: CallAdminApi<AdminApiClient>) {
  return async function createAgentJob(input: CreateAgentJobInput): Promise<CreatedAgentJob> {
    const { projectId, prompt, idempotencyKey } = input;
    const outcome = await call('prompt', ({ agentJobs }, options) =>
      agentJobs.create({ projectId, prompt }, { ...options, idempotencyKey }),
    ).catch(explainReusedKey);
    if (outcome.verdict !== 'success') throw finalFailure('Rejected', outcome.error.message, outcome.error.status);
    return { projectId, jobId: outcome.result.id };
  };
}

/** 422 can also mean a reused key: a change that was reset renders its prompt again. */
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
