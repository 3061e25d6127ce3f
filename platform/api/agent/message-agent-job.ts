import type { PromptRequest } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import { addAgentMessage } from '../../store/agent-job-transitions.ts';
import type { AgentJobRow } from '../../store/agent-jobs.ts';
import type { Caller } from '../../store/api-keys.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { acceptPrompt, type Idempotency, type PromptAnswer } from './accept-prompt.ts';

type Message = { job: AgentJobRow; body: PromptRequest; idempotency: Idempotency };

/** Sends a follow-up to the caller's job. Throws 409, 422 and 429. */
export async function messageAgentJob(
  context: ApiContext,
  caller: Caller,
  { job: { id: jobId, projectId }, body: { prompt }, idempotency }: Message,
): Promise<PromptAnswer> {
  return acceptPrompt(context, {
    ...{ caller, projectId, idempotency, status: 200, action: 'agent.message' },
    accept: async (tx, at) => {
      const outcome = await addAgentMessage(tx, { jobId, prompt, at });
      if (outcome === undefined) throw new HttpError(404, 'There is no such agent job in this project');
      if (outcome.accepted) return outcome.job;
      const { status } = outcome.job;
      const wayOut = status === 'active' ? 'send the message once it has ended' : 'make a new job';
      throw new HttpError(409, `The job ${jobId} is ${status} and takes no message: ${wayOut}`);
    },
  });
}
