import { Context } from '@temporalio/activity';
import type { CallAdminApi } from './call-admin-api.ts';
import { benignWait, finalFailure } from './outcomes.ts';
import { pollDelayMs } from './poll-delay.ts';
import { shortVersion } from './poll-export.ts';

type StartExportInput = {
  domain: string;
  /** The same for every attempt (`createExportKey`), so a lost response creates no second job. */
  idempotencyKey: string;
};

export type StartedExport = {
  jobId: string;
  version: string | null;
  /** When the service created the job (RFC 3339). Null if it doesn't say. */
  createdAt: string | null;
  /** The job's age in milliseconds by the service's clock; null if unknown. */
  ageMs: number | null;
};

/**
 * Starts an export job. If another export of the domain is active (409), it waits and starts its own: the active one
 * may have read older content, so Galley never adopts it.
 */
export function createStartExport(call: CallAdminApi) {
  return async function startExport({ domain, idempotencyKey }: StartExportInput): Promise<StartedExport> {
    const outcome = await call('start', ({ exports }, options) =>
      exports.start({ domain }, { ...options, idempotencyKey }),
    );
    if (outcome.verdict === 'busy') {
      const { reason, retryAfterMs } = outcome.error;
      throw benignWait(
        'DomainBusy',
        `waiting for the active export of ${domain} to end: ${reason}`,
        pollDelayMs(Context.current().info.attempt, retryAfterMs),
      );
    }
    if (outcome.verdict !== 'success') {
      throw finalFailure('Rejected', `start: ${outcome.error.reason}`, outcome.error.status);
    }
    const { jobId, createdAt, ...job } = outcome.result;
    const { dateMs } = outcome.response;
    const ageMs = createdAt === null || dateMs === null ? null : dateMs - Date.parse(createdAt);
    return { jobId, version: shortVersion(job), createdAt, ageMs };
  };
}
