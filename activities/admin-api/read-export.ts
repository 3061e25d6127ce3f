import { textField } from './answer-fields.ts';
import { describeAnswer, finalFailure } from './outcomes.ts';
import type { PatientCall } from './patient-call.ts';
import { jobPath } from './poll-export.ts';

/** A job as far as the service tells: everything is null where it doesn't. */
export type ExportDescription = { status: string | null; domain: string | null; version: string | null };

/** Reads a job without waiting for its end. Throws `JobGone` where it is unknown. */
export function createReadExport(call: PatientCall) {
  return async function readExport(input: { jobId: string }): Promise<ExportDescription> {
    const request = { method: 'GET', path: jobPath(input.jobId) } as const;
    const { verdict, answer } = await call('read', request);
    if (verdict !== 'success') throw finalFailure('JobGone', describeAnswer(request, answer), answer.status);
    return {
      status: textField(answer, 'status')?.toLowerCase() ?? null,
      domain: textField(answer, 'domain')?.toLowerCase() ?? null,
      version: textField(answer, 'version')?.slice(0, 200) ?? null,
    };
  };
}
