import type { AgentCancellation, AgentJob } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import { archiveAgentJob, requestAgentJobCancel } from '../../store/agent-job-transitions.ts';
import type { AgentJobRow } from '../../store/agent-jobs.ts';
import type { Caller } from '../../store/api-keys.ts';
import { recordAction } from '../../store/audit-log.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { agentJobView } from './agent-job-view.ts';

/** Cancels the current run: one that hasn't begun fails immediately, otherwise when its work has stopped. */
export async function cancelAgentRun(
  { db, cancelAgentJob, logger }: ApiContext,
  caller: Caller,
  { id }: Pick<AgentJobRow, 'id'>,
): Promise<AgentCancellation> {
  const outcome = await requestAgentJobCancel(db, id);
  if (outcome === undefined) throw new HttpError(404, 'There is no such agent job in this project');
  const { accepted, job } = outcome;
  if (accepted) {
    await recordAction(db, { ...caller, action: 'agent.cancel', target: id, detail: job.projectId });
    // Not awaited: the request is in the row, which the work reads at its end and the reconciler before that.
    cancelAgentJob({ jobId: id, run: job.run }).catch((error: unknown) => {
      logger.warn({ err: error, jobId: id }, 'The agent run could not be canceled now; the reconciler will');
    });
  }
  return { result: accepted ? 'accepted' : 'already-finished', job: agentJobView(job) };
}

/** Archives an ended job: it takes no more messages. Idempotent. Throws 409 if it is active. */
export async function archiveEndedAgentJob(
  { db }: ApiContext,
  caller: Caller,
  { id, status }: Pick<AgentJobRow, 'id' | 'status'>,
): Promise<AgentJob> {
  const job = await archiveAgentJob(db, id);
  if (job === undefined) throw new HttpError(404, 'There is no such agent job in this project');
  if (job.status !== 'archived') {
    throw new HttpError(409, `The job ${id} is ${job.status}: cancel it, or wait for its end, before archiving it`);
  }
  if (status !== 'archived') {
    await recordAction(db, { ...caller, action: 'agent.archive', target: id, detail: job.projectId });
  }
  return agentJobView(job);
}
