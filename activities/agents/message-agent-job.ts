import type { AdminApiClient } from '../../client/admin-api-client.ts';
import type { CallAdminApi } from '../admin-api/call-admin-api.ts';
import { benignWait, finalFailure } from '../admin-api/outcomes.ts';
import { refOf } from './agent-job.ts';

type MessageInput = {
  projectId: string;
  jobId: string;
  prompt: string;
  /** The same for every attempt, so a lost response sends no second message. */
  idempotencyKey: string;
};

/** `unsupported`: the service has no message endpoint, or no longer the job. */
type MessageOutcome = 'accepted' | 'unsupported';

/** An active job takes no message. It ends within minutes, or a person is at it. */
const ACTIVE_DELAY_MS = 15_000;

/** Sends an ended job a follow-up message. Waits while the job is active. Throws `Rejected` if the job is archived. */
export function createMessageAgentJob(call: CallAdminApi<AdminApiClient>) {
  return async function messageAgentJob(input: MessageInput): Promise<MessageOutcome> {
    const { prompt, idempotencyKey, jobId } = input;
    const outcome = await call('message', ({ agentJobs }, options) =>
      agentJobs.message({ ...refOf(input), prompt }, { ...options, idempotencyKey }),
    );
    if (outcome.verdict === 'success') return 'accepted';
    if (outcome.verdict === 'unsupported') return 'unsupported';
    const { message, status } = outcome.error;
    const job = await call('read', ({ agentJobs }, options) => agentJobs.get(refOf(input), options));
    if (job.verdict === 'success' && job.result.status !== 'archived') {
      throw benignWait('StillRunning', `${jobId} takes no message yet: ${message}`, ACTIVE_DELAY_MS);
    }
    throw finalFailure('Rejected', message, status);
  };
}
