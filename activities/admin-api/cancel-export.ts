import type { Cancellation } from '../../client/admin-api-client.ts';
import type { CallAdminApi } from './call-admin-api.ts';
import type { ExportRef, StaticExport } from './static-export.ts';

/** `unsupported`: the service has no such endpoint or doesn't know the job, so Galley waits for the job. */
export type CancelOutcome = 'accepted' | 'finished' | 'unsupported';

/** Asks the service to cancel a job. Cancelling is optional for a service. */
export async function requestCancel<Client>(
  call: CallAdminApi<Client>,
  request: Parameters<typeof call<Cancellation<unknown>>>[1],
): Promise<CancelOutcome> {
  const outcome = await call('cancel', request);
  if (outcome.verdict === 'success') return outcome.result.result === 'accepted' ? 'accepted' : 'finished';
  return outcome.verdict === 'finished' ? 'finished' : 'unsupported';
}

export function createCancelExport(call: CallAdminApi<StaticExport>) {
  return async function cancelExport(ref: ExportRef): Promise<CancelOutcome> {
    return await requestCancel(call, (exports, options) => exports.cancel(ref, options));
  };
}
