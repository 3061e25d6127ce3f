import { textField } from '../admin-api/answer-fields.ts';
import type { CancelOutcome } from '../admin-api/cancel-export.ts';
import type { PatientCall } from '../admin-api/patient-call.ts';
import { agentJobPath } from './agent-job.ts';

/** Asks the service to cancel an agent job. Cancelling is an extra that a service need not offer. */
export function createCancelAgentJob(call: PatientCall) {
  return async function cancelAgentJob(input: { projectId: string; jobId: string }): Promise<CancelOutcome> {
    const { verdict, answer } = await call('cancel', { method: 'POST', path: `${agentJobPath(input)}/cancel` });
    if (verdict === 'success') return textField(answer, 'result') === 'already-finished' ? 'finished' : 'accepted';
    return verdict === 'finished' ? 'finished' : 'unsupported';
  };
}
