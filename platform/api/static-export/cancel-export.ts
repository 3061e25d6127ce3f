import type { ExportCancellation } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import type { Caller } from '../../store/api-keys.ts';
import { recordAction } from '../../store/audit-log.ts';
import { requestExportJobCancel } from '../../store/export-job-transitions.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { exportJobView, findExport } from './export-job-view.ts';

/** Cancels a job: a queued one fails immediately, a running one when its work has stopped. Throws 403 and 404. */
export async function cancelExport(context: ApiContext, caller: Caller, jobId: unknown): Promise<ExportCancellation> {
  const { db, logger } = context;
  const { id, domain } = await findExport(db, caller, jobId);
  const outcome = await requestExportJobCancel(db, id);
  if (outcome === undefined) throw new HttpError(404, 'There is no such export job');
  if (outcome.accepted) {
    await recordAction(db, { ...caller, action: 'export.cancel', target: id, detail: domain });
    // Not awaited: the request is in the row, which the work reads at each step and the reconciler after it.
    context.cancelExport(id).catch((error: unknown) => {
      logger.warn({ err: error, jobId: id }, 'The export could not be canceled now; the reconciler will');
    });
  }
  return { result: outcome.accepted ? 'accepted' : 'already-finished', job: exportJobView(outcome.job) };
}
