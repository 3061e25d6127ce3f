import type { RequestHandler } from 'express';
import { z } from 'zod';
import { domainName, type ExportJobPage, exportJobStatus } from '../../../contract/admin-api.ts';
import { parseInput } from '../../parse-input.ts';
import { listExportJobs } from '../../store/export-jobs.ts';
import { authenticate } from '../authenticate.ts';
import { cursor, limit, nextCursor } from '../paging.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { exportJobView, findOwnJob, requireEnterprise } from './export-job-view.ts';

export const listExportsQuery = z.strictObject({
  domain: domainName.optional(),
  status: exportJobStatus.optional(),
  cursor,
  limit,
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
    const { domain, status, cursor: beforeSequence, limit } = parseInput(listExportsQuery, request.query);
    requireEnterprise(caller);
    const rows = await listExportJobs(db, {
      organizationId: caller.organizationId,
      domain,
      status,
      beforeSequence,
      // One row more than requested shows whether there is another page.
      limit: limit + 1,
    });
    const page: ExportJobPage = {
      jobs: rows.slice(0, limit).map(exportJobView),
      nextCursor: nextCursor(rows, limit),
    };
    response.json(page);
  };
}
