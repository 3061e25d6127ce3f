import type { RequestHandler } from 'express';
import { z } from 'zod';
import { domainName, type ExportJobPage, exportJobStatus } from '../../../contract/admin-api.ts';
import { parseInput } from '../../parse-input.ts';
import { listExportJobs } from '../../store/export-jobs.ts';
import { authenticate } from '../authenticate.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { exportJobView, findOwnJob, requireEnterprise } from './export-job-view.ts';

/** The cursor is the last job's sequence; to clients it is opaque. */
export const listExportsQuery = z.strictObject({
  domain: domainName.optional(),
  status: exportJobStatus.optional(),
  cursor: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/, 'expected the nextCursor of an earlier answer')
    .optional(),
  limit: z
    .string()
    .regex(/^(?:[1-9][0-9]?|100)$/, 'expected a whole number from 1 to 100')
    .transform(Number)
    .default(20),
});

/** `GET /v1/static-export/jobs/{jobId}` */
export function getExportHandler({ db }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const job = await findOwnJob(db, caller, request.params.jobId);
    requireEnterprise(caller);
    response.json(exportJobView(job));
  };
}

/** `GET /v1/static-export/jobs`: newest first; `nextCursor` is null on the last page. */
export function listExportsHandler({ db }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const { domain, status, cursor, limit } = parseInput(listExportsQuery, request.query);
    requireEnterprise(caller);
    const rows = await listExportJobs(db, {
      organizationId: caller.organizationId,
      domain,
      status,
      beforeSequence: cursor === undefined ? undefined : Number(cursor),
      // One more than asked for tells whether there is another page.
      limit: limit + 1,
    });
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const page: ExportJobPage = {
      jobs: shown.map(exportJobView),
      nextCursor: rows.length > limit && last ? String(last.sequence) : null,
    };
    response.json(page);
  };
}
