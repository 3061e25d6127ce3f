import { type CancelOutcome, cancelAt } from '../admin-api/cancel-export.ts';
import type { PatientCall } from '../admin-api/patient-call.ts';
import { agentJobPath } from './agent-job.ts';

export function createCancelAgentJob(call: PatientCall) {
  return async function cancelAgentJob(input: { projectId: string; jobId: string }): Promise<CancelOutcome> {
    return await cancelAt(call, agentJobPath(input));
  };
}
