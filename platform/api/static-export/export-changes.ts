import { extname } from 'node:path';
import { createBoundedThreads, WorkExceeded, WorkRefused } from '../../../base/bounded-threads.ts';
import { BundleInvalidError } from '../../../bundle/errors.ts';
import { readBundleHead } from '../../../bundle/read-bundle.ts';
import type { ExportChanges, ExportReport } from '../../../contract/admin-api.ts';
import { ObjectMissingError } from '../../../exporter/export-failure.ts';
import { HttpError } from '../../../web/http-error.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { type ExportJobRow, findExportBefore } from '../../store/export-jobs.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import type * as tasks from './changes-tasks.ts';
import { requireCompleted } from './export-job-view.ts';
import { readReport } from './export-results.ts';

/** Two sites of the largest size take a few seconds, and some 400 MiB. */
const threads = createBoundedThreads<typeof tasks>({
  module: new URL(`./changes-tasks${extname(import.meta.url)}`, import.meta.url).href,
  limitMs: 60_000,
  memoryMiB: 1024,
});

/**
 * What differs from the project's completed export before. `report` is the job's, if it was read already. Throws 404 if a
 * bundle is no longer stored or is damaged, 409 unless the job has completed, and 503 if too many others are compared.
 */
export async function readExportChanges(
  { db, objects }: Pick<ApiContext, 'db' | 'objects'>,
  job: ExportJobRow,
  report?: ExportReport,
): Promise<ExportChanges> {
  requireCompleted(job);
  const row = await findExportBefore(db, job);
  const [before, now] = await Promise.all([row && readStored(objects, row), readStored(objects, job, report)]);
  try {
    return await threads.run('compareStored', { before, now }, `${row?.id} ${job.id}`);
  } catch (error) {
    if (!(error instanceof WorkExceeded) && !(error instanceof WorkRefused)) throw error;
    throw new HttpError(503, 'Too many exports are compared at the moment', { 'Retry-After': '10' });
  }
}

async function readStored(objects: ObjectStore, job: ExportJobRow, known?: ExportReport): Promise<tasks.StoredExport> {
  const { archiveKey } = requireCompleted(job);
  try {
    const [{ manifest }, report] = await Promise.all([
      readBundleHead(await objects.get(archiveKey)),
      known ?? readReport(objects, job),
    ]);
    return { jobId: job.id, manifest, brokenLinks: report.brokenLinks };
  } catch (error) {
    if (error instanceof ObjectMissingError) throw new HttpError(404, `The bundle of ${job.id} is no longer stored`);
    if (error instanceof BundleInvalidError) throw new HttpError(404, `The stored bundle of ${job.id} is damaged`);
    throw error;
  }
}
