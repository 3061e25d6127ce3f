import type { ExportChanges, ExportReport } from '../../../contract/admin-api.ts';
import type { BundleManifest } from '../../../contract/bundle.ts';
import { ObjectMissingError } from '../../../exporter/export-failure.ts';
import { HttpError } from '../../../web/http-error.ts';
import { readManifest } from '../../objects/archive-entries.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { type ExportJobRow, findExportBefore } from '../../store/export-jobs.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { requireCompleted } from './export-job-view.ts';
import { readReport } from './export-results.ts';

/** What is known of a completed export. */
type ExportContent = { jobId: string; files: BundleManifest['files']; brokenLinks: ExportReport['brokenLinks'] };

/**
 * What differs from the project's completed export before. `report` is the job's, if it was read already. Throws 404 if a
 * bundle is no longer stored, and 409 unless the job has completed.
 */
export async function readExportChanges(
  { db, objects }: Pick<ApiContext, 'db' | 'objects'>,
  job: ExportJobRow,
  report?: ExportReport,
): Promise<ExportChanges> {
  requireCompleted(job);
  const before = await findExportBefore(db, job);
  const [then, now] = await Promise.all([before && readOutcome(objects, before), readOutcome(objects, job, report)]);
  return compareExports(then, now);
}

async function readOutcome(objects: ObjectStore, job: ExportJobRow, known?: ExportReport): Promise<ExportContent> {
  const { archiveKey } = requireCompleted(job);
  try {
    const [{ files }, report] = await Promise.all([
      readManifest(objects, archiveKey),
      known ?? readReport(objects, job),
    ]);
    return { jobId: job.id, files, brokenLinks: report.brokenLinks };
  } catch (error) {
    if (error instanceof ObjectMissingError) throw new HttpError(404, `The bundle of ${job.id} is no longer stored`);
    throw error;
  }
}

/** Precompressed siblings don't count: they change with their files. */
export function compareExports(before: ExportContent | undefined, now: ExportContent): ExportChanges {
  const hashes = hashesByPath(before?.files ?? []);
  const paths = hashesByPath(now.files);
  const alreadyBroken = new Set(before?.brokenLinks.map(({ url }) => url));
  return {
    since: before?.jobId ?? null,
    added: [...paths.keys()].filter((path) => !hashes.has(path)),
    changed: [...paths]
      .filter(([path, sha256]) => hashes.has(path) && hashes.get(path) !== sha256)
      .map(([path]) => path),
    removed: [...hashes.keys()].filter((path) => !paths.has(path)),
    newlyBroken: now.brokenLinks
      .filter(({ url }) => !alreadyBroken.has(url))
      .flatMap(({ url, referrers }) => referrers.map((referrer) => ({ link: url, referrer }))),
  };
}

/** The hashes in the manifest's order, which is by path. */
function hashesByPath(files: BundleManifest['files']): Map<string, string> {
  return new Map(files.flatMap(({ path, sha256, encoding }) => (encoding === undefined ? [[path, sha256]] : [])));
}
