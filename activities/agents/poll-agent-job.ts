import { type CallAdminApi, reportProgress } from '../admin-api/call-admin-api.ts';
import { pollJob, readAt } from '../admin-api/poll-job.ts';
import { agentJobPath, type FinishedAgentJob, readAgentJob } from './agent-job.ts';

/**
 * Polls an agent job until it ends (poll-job.ts). Throws `JobGone` if the job is unknown.
 * @param quickAsksMs pauses between the first polls, all within the first attempt.
 */
export function createPollAgentJob(call: CallAdminApi, quickAsksMs: readonly number[]) {
  return async function pollAgentJob(input: { projectId: string; jobId: string }): Promise<FinishedAgentJob> {
    return await pollJob(async () => {
      const response = await readAt(call, agentJobPath(input));
      const reading = readAgentJob(response);
      reportProgress({ percent: null, pageCount: null });
      return 'finished' in reading ? reading : { running: `${input.jobId} is ${reading.running}`, response };
    }, quickAsksMs);
  };
}
