import { endTimeOf, textField, timeField } from './answer-fields.ts';
import type { PatientCall } from './patient-call.ts';
import { jobPath } from './poll-export.ts';
import { readAt } from './poll-job.ts';

/** A job's fields; null if the service doesn't give them. */
export type ExportDescription = {
  status: string | null;
  domain: string | null;
  version: string | null;
  /** When the job was created and when it ended (RFC 3339). Releases before 0.2 omitted them. */
  createdAt?: string | null;
  exportedAt?: string | null;
};

/** Reads a job without waiting for its end. Throws `JobGone` if it is unknown. */
export function createReadExport(call: PatientCall) {
  return async function readExport(input: { jobId: string }): Promise<ExportDescription> {
    const answer = await readAt(call, jobPath(input.jobId));
    return {
      status: textField(answer, 'status')?.toLowerCase() ?? null,
      domain: textField(answer, 'domain')?.toLowerCase() ?? null,
      version: textField(answer, 'version')?.slice(0, 200) ?? null,
      createdAt: timeField(answer, 'createdAt'),
      exportedAt: endTimeOf(answer),
    };
  };
}
