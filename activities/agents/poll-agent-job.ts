import { Context, sleep } from '@temporalio/activity';
import { benignWait, describeAnswer, finalFailure, retryAfterOf } from '../admin-api/outcomes.ts';
import { type PatientCall, reportProgress } from '../admin-api/patient-call.ts';
import { pollDelayMs } from '../admin-api/poll-delay.ts';
import { agentJobPath, type FinishedAgentJob, readAgentJob } from './agent-job.ts';

/**
 * Asks once how an agent job stands and returns when it has ended. While it runs, the activity fails with a benign
 * "StillRunning", so that Temporal asks again by its retry policy. Throws `JobGone` where the job is unknown.
 * @param quickAsksMs pauses between the first questions, all within the first attempt.
 */
export function createPollAgentJob(call: PatientCall, quickAsksMs: readonly number[]) {
  return async function pollAgentJob(input: { projectId: string; jobId: string }): Promise<FinishedAgentJob> {
    const { attempt } = Context.current().info;
    const request = { method: 'GET', path: agentJobPath(input) } as const;
    const pausesMs = attempt === 1 ? quickAsksMs : [];
    for (let asked = 0; ; asked++) {
      const { verdict, answer } = await call('read', request);
      if (verdict !== 'success') throw finalFailure('JobGone', describeAnswer(request, answer), answer.status);
      const reading = readAgentJob(answer);
      reportProgress({ percent: null, pageCount: null });
      if ('finished' in reading) return reading.finished;
      const pauseMs = pausesMs[asked];
      if (pauseMs === undefined) {
        const delayMs = pollDelayMs(attempt, retryAfterOf(answer));
        throw benignWait('StillRunning', `${input.jobId} is ${reading.running}`, delayMs);
      }
      await sleep(pauseMs);
    }
  };
}
