import { deleteCrawl } from '../../store/crawls.ts';
import { failExportJob } from '../../store/export-job-transitions.ts';
import { getExportJob } from '../../store/export-jobs.ts';
import { lively } from '../lively.ts';
import type { ExportDeps } from './export-deps.ts';
import { reportKey, workPrefix } from './object-keys.ts';

const KEYS_PER_DELETE = 500;

/** Ends a job as failed, unless it ended before. */
export async function failExport({ db }: ExportDeps, jobId: string, error: string): Promise<void> {
  await failExportJob(db, jobId, error);
}

/**
 * Forgets what a job worked on: its frontier, its segments, its pieces of the archive; and, where it came to no good
 * end, its archive and report.
 */
export async function cleanUpExport(deps: ExportDeps, jobId: string, archiveKey: string | null): Promise<void> {
  const { db, objects, logger } = deps;
  await lively({ details: () => 'clearing up', logger }, async ({ signal }) => {
    await deleteCrawl(db, jobId);
    let keys: string[] = [];
    for await (const key of objects.list(workPrefix(jobId))) {
      signal.throwIfAborted();
      keys.push(key);
      if (keys.length < KEYS_PER_DELETE) continue;
      await objects.delete(keys);
      keys = [];
    }
    const job = await getExportJob(db, jobId);
    if (job?.status !== 'completed') {
      keys.push(reportKey(jobId));
      if (archiveKey !== null) keys.push(archiveKey);
    }
    await objects.delete(keys);
  });
}
