import { Context } from '@temporalio/activity';
import type { CallAdminApi } from './call-admin-api.ts';
import { temporaryFailure } from './call-admin-api.ts';
import { benignWait, finalFailure, retryAfterOf } from './outcomes.ts';
import { pollDelayMs } from './poll-delay.ts';
import { errorText, textField, timeField } from './response-fields.ts';
import { parseTimestampMs } from './timestamps.ts';

type StartExportInput = {
  domain: string;
  /** The same for every attempt (create-export-key.ts), so a lost response creates no second job. */
  idempotencyKey: string;
};

export type StartedExport = {
  jobId: string;
  version: string | null;
  /** When the service created the job (RFC 3339). Null if it doesn't say; releases before 0.2 omitted it. */
  createdAt?: string | null;
  /** The job's age in milliseconds by the service's clock; null if unknown. */
  ageMs?: number | null;
};

/**
 * Starts an export job. If another export of the domain is active (409), it waits and starts its own: the active one
 * may have read older content, so Galley never adopts it.
 */
export function createStartExport(call: CallAdminApi) {
  return async function startExport(input: StartExportInput): Promise<StartedExport> {
    const { verdict, response } = await call('start', {
      method: 'POST',
      path: '/v1/static-export/jobs',
      body: { domain: input.domain },
      headers: { 'idempotency-key': input.idempotencyKey },
    });
    if (verdict === 'busy') {
      throw benignWait(
        'DomainBusy',
        `waiting for the active export of ${input.domain} to end: ${errorText(response)}`,
        pollDelayMs(Context.current().info.attempt, retryAfterOf(response)),
      );
    }
    if (verdict !== 'success') throw finalFailure('Rejected', `start: ${errorText(response)}`, response.status);
    const jobId = textField(response, 'jobId');
    // The response may have been cut. The same key returns the same job.
    if (jobId === undefined)
      throw temporaryFailure(unreadable(response.status, 'jobId', response.text), response.status);
    const createdAt = timeField(response, 'createdAt');
    const respondedAtMs = parseTimestampMs(response.date);
    const ageMs = createdAt === null || respondedAtMs === undefined ? null : respondedAtMs - Date.parse(createdAt);
    return { jobId, version: textField(response, 'version')?.slice(0, 200) ?? null, createdAt, ageMs };
  };
}

/** The error message for a 2xx without a required field. */
export function unreadable(status: number, name: string, text: string): string {
  const kind = /^\s*</.test(text) ? 'an HTML page' : text.trim() === '' ? 'an empty body' : 'an unreadable or cut body';
  return `the Admin API answered ${status} without "${name}" (${kind})`;
}
