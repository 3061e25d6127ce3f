import { z } from 'zod';
import type { AdminApiClient, AgentJob, AgentJobRef } from '../../client/admin-api-client.ts';
import { statusText } from '../../client/job-schemas.ts';
import { type CallAdminApi, reportProgress } from '../admin-api/call-admin-api.ts';
import { type CancelOutcome, requestCancel } from '../admin-api/cancel-export.ts';
import { finalFailure } from '../admin-api/outcomes.ts';
import { pollJob, readOrGone } from '../admin-api/poll-job.ts';

/** An agent job as workflows name it. */
type JobInput = { projectId: string; jobId: string };

/** An agent job that has ended. */
export type FinishedAgentJob = {
  status: 'completed' | 'failed' | 'archived';
  /** The pull request's page; null if the agent changed no file or the job failed. */
  prLink: string | null;
  /** Why it failed, if the service says so. */
  error: string | null;
};

/** An agent's error may be the end of its output; a longer one is cut. */
const MAX_ERROR = 2_000;

/** No pull request has a longer URL. */
const MAX_LINK = 2_000;

export function refOf({ projectId, jobId }: JobInput): AgentJobRef {
  return { projectId, id: jobId };
}

/**
 * Polls an agent job until it ends (poll-job.ts). Throws `JobGone` if the job is unknown.
 * @param quickAsksMs pauses between the first polls, all within the first attempt.
 */
export function createPollAgentJob(call: CallAdminApi<AdminApiClient>, quickAsksMs: readonly number[]) {
  return async function pollAgentJob(input: JobInput): Promise<FinishedAgentJob> {
    return await pollJob(async () => {
      const outcome = await call('read', ({ agentJobs }, options) => agentJobs.get(refOf(input), options));
      const { job, response } = readOrGone(outcome);
      const finished = finishedJob(job, response.status);
      reportProgress({ percent: null, pageCount: null });
      if (finished !== null) return { finished };
      return { running: `${input.jobId} is ${word.parse(response.body).status.slice(0, 500)}`, response };
    }, quickAsksMs);
  };
}

/** The service's own word for a job that is active. */
const word = z.object({ status: statusText });

function finishedJob({ status, prLink, error }: AgentJob, httpStatus: number): FinishedAgentJob | null {
  if (status === 'active') return null;
  const said = error?.slice(0, MAX_ERROR) ?? null;
  // A failed job's `prLink` may be anything, and mustn't hide the error.
  return { status, prLink: status === 'failed' ? null : webLink(prLink, httpStatus), error: said };
}

/** People read it and mails link to it, so accept web URLs only. */
function webLink(prLink: string | null, httpStatus: number): string | null {
  if (prLink === null) return null;
  if (prLink.length <= MAX_LINK && URL.canParse(prLink) && /^https?:$/.test(new URL(prLink).protocol)) return prLink;
  throw finalFailure('Rejected', 'the Admin API gave a prLink that is not a web URL', httpStatus);
}

export function createCancelAgentJob(call: CallAdminApi<AdminApiClient>) {
  return async function cancelAgentJob(input: JobInput): Promise<CancelOutcome> {
    return await requestCancel(call, ({ agentJobs }, options) => agentJobs.cancel(refOf(input), options));
  };
}
