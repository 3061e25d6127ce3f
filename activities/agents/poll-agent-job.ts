import { type PatientCall, reportProgress } from '../admin-api/patient-call.ts';
import { pollJob, readAt } from '../admin-api/poll-job.ts';
import { agentJobPath, type FinishedAgentJob, readAgentJob } from './agent-job.ts';

/**
 * Waits for an agent job's end (poll-job.ts). Throws `JobGone` where the job is unknown.
 * @param quickAsksMs pauses between the first questions, all within the first attempt.
 */
export function createPollAgentJob(call: PatientCall, quickAsksMs: readonly number[]) {
  return async function pollAgentJob(input: { projectId: string; jobId: string }): Promise<FinishedAgentJob> {
    return await pollJob(async () => {
      const answer = await readAt(call, agentJobPath(input));
      const reading = readAgentJob(answer);
      reportProgress({ percent: null, pageCount: null });
      return 'finished' in reading ? reading : { running: `${input.jobId} is ${reading.running}`, answer };
    }, quickAsksMs);
  };
}
