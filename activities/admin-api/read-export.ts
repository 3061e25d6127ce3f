import type { CallAdminApi } from './call-admin-api.ts';
import { jobPath } from './poll-export.ts';
import { readAt } from './poll-job.ts';
import { endTimeOf, textField, timeField } from './response-fields.ts';

/** A job's fields; null if the service doesn't give them. */
type ExportDescription = {
  status: string | null;
  domain: string | null;
  version: string | null;
  /** When the job was created and when it ended (RFC 3339). Releases before 0.2 omitted them. */
  createdAt?: string | null;
  exportedAt?: string | null;
};

/** Reads a job without waiting for its end. Throws `JobGone` if it is unknown. */
export function createReadExport(call: CallAdminApi) {
  return async function readExport(input: { jobId: string }): Promise<ExportDescription> {
    const response = await readAt(call, jobPath(input.jobId));
    return {
      status: textField(response, 'status')?.toLowerCase() ?? null,
      domain: textField(response, 'domain')?.toLowerCase() ?? null,
      version: textField(response, 'version')?.slice(0, 200) ?? null,
      createdAt: timeField(response, 'createdAt'),
      exportedAt: endTimeOf(response),
    };
  };
}
