import type { CallAdminApi } from './call-admin-api.ts';
import { jobPath } from './poll-export.ts';
import { textField } from './response-fields.ts';

/** `unsupported`: the service has no such endpoint or doesn't know the job, so Galley waits for the job. */
export type CancelOutcome = 'accepted' | 'finished' | 'unsupported';

/** Asks the service to cancel a job. Cancelling is optional for a service. */
export async function cancelAt(call: CallAdminApi, jobPath: string): Promise<CancelOutcome> {
  const { verdict, response } = await call('cancel', { method: 'POST', path: `${jobPath}/cancel` });
  if (verdict === 'success') return textField(response, 'result') === 'already-finished' ? 'finished' : 'accepted';
  return verdict === 'finished' ? 'finished' : 'unsupported';
}

export function createCancelExport(call: CallAdminApi) {
  return async function cancelExport(input: { jobId: string }): Promise<CancelOutcome> {
    return await cancelAt(call, jobPath(input.jobId));
  };
}
