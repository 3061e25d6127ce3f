import type { RequestHandler } from 'express';
import type { ExportCancellation } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import type { Caller } from '../../store/api-keys.ts';
import { recordAction } from '../../store/audit-log.ts';
import { requestExportJobCancel } from '../../store/export-job-transitions.ts';
import { authenticate } from '../authenticate.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { exportJobView, findOwnJob, requireEnterprise } from './export-job-view.ts';

/** `POST /v1/static-export/jobs/{jobId}/cancel` */
export function cancelExportHandler(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(context.db, request);
    response.json(await cancelExport(context, caller, request.params.jobId));
  };
}

/** Cancels a job: a queued one fails immediately, a running one when its work has stopped. Throws 403 and 404. */
export async function cancelExport(context: ApiContext, caller: Caller, jobId: unknown): Promise<ExportCancellation> {
  const { db, logger } = context;
  const { id, domain } = await findOwnJob(db, caller, jobId);
  requireEnterprise(caller);
  const outcome = await requestExportJobCancel(db, id);
  if (outcome === undefined) throw new HttpError(404, 'There is no such export job');
  if (outcome.accepted) {
    await recordAction(db, { ...caller, action: 'export.cancel', target: id, detail: domain });
    // Not awaited: the request is in the row, which the work reads at each step and the reconciler after it.
    context.cancelExport(id).catch((error: unknown) => {
      logger.warn({ err: error, jobId: id }, 'The export could not be cancelled now; the reconciler will');
    });
  }
  return { result: outcome.accepted ? 'accepted' : 'already-finished', job: exportJobView(outcome.job) };
}
