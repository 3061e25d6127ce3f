import { Context } from '@temporalio/activity';
import { AdminApiError, isSuccess } from '../../client/admin-api-error.ts';
import type { StaticExportForm } from '../../contract/admin-api.ts';
import { type CallAdminApi, readLostStarts, reportLostStarts } from './call-admin-api.ts';
import { benignWait, finalFailure } from './outcomes.ts';
import { shortVersion } from './poll-export.ts';
import { pollDelayMs } from './poll-job.ts';
import type { ExportStart, StaticExport } from './static-export.ts';

type StartExportInput = ExportStart & {
  /** The same for every attempt (`createExportKey`), so a lost response creates no second job, if the service supports it. */
  idempotencyKey: string;
};

export type StartedExport = {
  jobId: string;
  version: string | null;
  /** When the service created the job (RFC 3339). Null if it doesn't say. */
  createdAt: string | null;
  /** The job's age in milliseconds by the service's clock; null if unknown. */
  ageMs: number | null;
  /** The service's form of static export. Workers of earlier releases don't say this and the next. */
  form?: StaticExportForm;
  /** Earlier starts whose response was lost, and that the service may have counted. */
  lostStarts?: number;
};

/**
 * Starts an export job. If another export of the domain is active (409), it waits and starts its own: the active one
 * may have read older content, so Galley never adopts it. In form `project`, which has no idempotency, a start whose response
 * was lost can't be found again: it counts as one, and the next begins once the service accepts it.
 */
export function createStartExport(call: CallAdminApi<StaticExport>) {
  return async function startExport({ idempotencyKey, ...start }: StartExportInput): Promise<StartedExport> {
    const lostStarts = readLostStarts();
    const outcome = await call('start', async (exports, options) => {
      const form = await exports.form(start, options);
      // Reported first: if this worker is killed, the next attempt counts the start as lost.
      if (form === 'project') reportLostStarts(lostStarts + 1);
      try {
        return { form, job: await exports.start(start, { ...options, idempotencyKey }) };
      } catch (error) {
        if (form === 'project' && isRefused(error)) reportLostStarts(lostStarts);
        throw error;
      }
    });
    if (outcome.verdict === 'busy') {
      const { reason, retryAfterMs } = outcome.error;
      throw benignWait(
        'DomainBusy',
        `waiting for the active export of ${start.domain} to end: ${reason}`,
        pollDelayMs(Context.current().info.attempt, retryAfterMs),
      );
    }
    if (outcome.verdict !== 'success') {
      throw finalFailure('Rejected', `start: ${outcome.error.reason}`, outcome.error.status);
    }
    const { form, job } = outcome.result;
    const { jobId, createdAt } = job;
    const { dateMs } = outcome.response;
    const ageMs = createdAt === null || dateMs === null ? null : dateMs - Date.parse(createdAt);
    return { jobId, version: shortVersion(job), createdAt, ageMs, form, ...(lostStarts > 0 && { lostStarts }) };
  };
}

/** The service has certainly started nothing. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof AdminApiError) || error.status === null) return false;
  return !isSuccess(error.status) && error.status < 500;
}
