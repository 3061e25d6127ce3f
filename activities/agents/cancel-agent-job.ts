import type { CallAdminApi } from '../admin-api/call-admin-api.ts';
import { type CancelOutcome, cancelAt } from '../admin-api/cancel-export.ts';
import { agentJobPath } from './agent-job.ts';

export function createCancelAgentJob(call: CallAdminApi) {
  return async function cancelAgentJob(input: { projectId: string; jobId: string }): Promise<CancelOutcome> {
    return await cancelAt(call, agentJobPath(input));
  };
}
