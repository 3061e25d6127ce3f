import { textField } from './answer-fields.ts';
import type { PatientCall } from './patient-call.ts';
import { jobPath } from './poll-export.ts';

/** `unsupported`: the service has no such endpoint (or doesn't know the job), so the job is waited for. */
export type CancelOutcome = 'accepted' | 'finished' | 'unsupported';

/** Asks the service to cancel a job. Cancelling is an extra that a service need not offer. */
export function createCancelExport(call: PatientCall) {
  return async function cancelExport(input: { jobId: string }): Promise<CancelOutcome> {
    const path = `${jobPath(input.jobId)}/cancel`;
    const { verdict, answer } = await call('cancel', { method: 'POST', path });
    if (verdict === 'success') return textField(answer, 'result') === 'already-finished' ? 'finished' : 'accepted';
    return verdict === 'finished' ? 'finished' : 'unsupported';
  };
}
