import { z } from 'zod';
import { domainName, type ExportJobPage, exportJobStatus } from '../../../contract/admin-api.ts';
import type { Caller } from '../../store/api-keys.ts';
import { listExportJobs } from '../../store/export-jobs.ts';
import { cursor, limit, nextCursor } from '../paging.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { exportJobView, requireEnterprise } from './export-job-view.ts';

export const listExportsQuery = z.strictObject({
  domain: domainName.optional().meta({ description: 'Only jobs of this domain. Other scripts than ASCII become it.' }),
  status: exportJobStatus.optional().meta({ description: 'Only jobs with this status.' }),
  cursor,
  limit,
});

/** Newest first; `nextCursor` is null on the last page. Throws 403. */
export async function listExports(
  { db }: ApiContext,
  caller: Caller,
  { cursor: beforeSequence, limit, ...filter }: z.output<typeof listExportsQuery>,
): Promise<ExportJobPage> {
  requireEnterprise(caller);
  const { organizationId, projectId } = caller;
  // One row more than requested shows whether there is another page.
  const rows = await listExportJobs(db, { ...filter, organizationId, projectId, beforeSequence, limit: limit + 1 });
  return { jobs: rows.slice(0, limit).map(exportJobView), nextCursor: nextCursor(rows, limit) };
}
