import type { RequestHandler } from 'express';
import type { ExportCancellation } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../contract/http-error.ts';
import { requestExportJobCancel } from '../../store/export-job-transitions.ts';
import { authenticate } from '../authenticate.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { exportJobView, findOwnJob, requireEnterprise } from './export-job-view.ts';

/**
 * `POST /v1/static-export/jobs/{jobId}/cancel`: a queued job fails immediately, a running one when its work has
 * stopped.
 */
export function cancelExportHandler({ db, cancelExport, logger }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const { id } = await findOwnJob(db, caller, request.params.jobId);
    requireEnterprise(caller);
    const outcome = await requestExportJobCancel(db, id);
    if (outcome === undefined) throw new HttpError(404, 'There is no such export job');
    if (outcome.accepted) {
      // Not awaited: the request is in the row, which the work reads at each step and the reconciler after it.
      cancelExport(id).catch((error: unknown) => {
        logger.warn({ err: error, jobId: id }, 'The export could not be cancelled now; the reconciler will');
      });
    }
    const answer: ExportCancellation = {
      result: outcome.accepted ? 'accepted' : 'already-finished',
      job: exportJobView(outcome.job),
    };
    response.json(answer);
  };
}
