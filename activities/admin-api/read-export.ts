import type { CallAdminApi } from './call-admin-api.ts';
import { endTimeOf, shortVersion } from './poll-export.ts';
import { readOrGone } from './poll-job.ts';
import type { ExportRef, StaticExport } from './static-export.ts';

/** A job's fields; null if the service doesn't give them. */
type ExportDescription = {
  status: string | null;
  domain: string | null;
  version: string | null;
  /** When the job was created and when it ended (RFC 3339). */
  createdAt: string | null;
  exportedAt: string | null;
};

/** Reads a job without waiting for its end. Throws `JobGone` if it is unknown. */
export function createReadExport(call: CallAdminApi<StaticExport>) {
  return async function readExport(ref: ExportRef): Promise<ExportDescription> {
    const { job, response } = readOrGone(await call('read', (exports, options) => exports.get(ref, options)));
    return {
      status: job.status,
      domain: job.domain?.trim().toLowerCase() ?? null,
      version: shortVersion(job),
      createdAt: job.createdAt,
      exportedAt: endTimeOf(response),
    };
  };
}
