import { textField } from './answer-fields.ts';
import type { PatientCall } from './patient-call.ts';
import { jobPath } from './poll-export.ts';

/** `unsupported`: the service has no such endpoint or doesn't know the job, so Galley waits for the job. */
export type CancelOutcome = 'accepted' | 'finished' | 'unsupported';

/** Asks the service to cancel a job. Cancelling is optional for a service. */
export async function cancelAt(call: PatientCall, jobPath: string): Promise<CancelOutcome> {
  const { verdict, answer } = await call('cancel', { method: 'POST', path: `${jobPath}/cancel` });
  if (verdict === 'success') return textField(answer, 'result') === 'already-finished' ? 'finished' : 'accepted';
  return verdict === 'finished' ? 'finished' : 'unsupported';
}

export function createCancelExport(call: PatientCall) {
  return async function cancelExport(input: { jobId: string }): Promise<CancelOutcome> {
    return await cancelAt(call, jobPath(input.jobId));
  };
}
