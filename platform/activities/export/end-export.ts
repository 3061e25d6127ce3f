import type { Logger } from 'pino';
import { storeFailedReport } from '../../../exporter/assemble/report.ts';
import type { JobCache } from '../../../exporter/job-cache.ts';
import { proofKey, reportKey, workPrefix } from '../../../exporter/object-keys.ts';
import type { CrawlStore } from '../../../exporter/ports.ts';
import { deleteEach } from '../../objects/delete-each.ts';
import { dropUnfinished } from '../../objects/drop-unfinished.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { getCrawl } from '../../store/crawls.ts';
import type { Database } from '../../store/database.ts';
import { failExportJob } from '../../store/export-job-transitions.ts';
import { type ExportJobRow, getExportJob } from '../../store/export-jobs.ts';
import { forbidReuse, forgetCrawls, usedObjects } from '../../store/kept-crawls.ts';
import { withHeartbeat } from '../with-heartbeat.ts';

type EndDeps = { db: Database; store: CrawlStore; objects: ObjectStore; logger: Logger; jobCache: JobCache };

/** Ends a job as failed, unless it has ended, with a report of what it found until then. */
export async function failExport(deps: EndDeps, jobId: string, error: string): Promise<void> {
  const { db, logger } = deps;
  await withHeartbeat({ details: () => 'recording the failure', logger }, async () => {
    const job = await getExportJob(db, jobId);
    if (job === undefined || job.status === 'completed' || job.status === 'failed') return;
    await failExportJob(db, jobId, error, await storeFailedReport(deps, jobId));
  });
}

/**
 * Deletes what a job worked on: its frontier, its segments, its pieces of the archive and, if it failed, its archive.
 * What a completed job stored for the project's next export stays; what the export before it stored for that is deleted.
 */
export async function cleanUpExport(deps: EndDeps, jobId: string, archiveKey: string | null): Promise<void> {
  const { db, objects, logger, jobCache } = deps;
  jobCache.forget(jobId);
  await withHeartbeat({ details: () => 'cleaning up', logger }, async ({ signal }) => {
    const job = await getExportJob(db, jobId);
    if (job === undefined) return;
    await forbidReuseAfterFailure(deps, job);
    const forgotten = await forgetCrawls(db, job.projectId);
    const used = await usedObjects(db, job.projectId, workPrefix(jobId));
    async function* unused(ended: ExportJobRow): AsyncGenerator<string> {
      yield* forgotten;
      for await (const key of objects.list(workPrefix(jobId))) {
        signal.throwIfAborted();
        if (!used.has(key)) yield key;
      }
      if (ended.reportKey === null) yield reportKey(jobId);
      if (ended.status !== 'completed') yield proofKey(jobId);
      if (ended.status !== 'completed' && archiveKey !== null) yield archiveKey;
    }
    await deleteEach(objects, unused(job));
    await dropUnfinished(deps, { prefixes: [workPrefix(jobId), ...(archiveKey === null ? [] : [archiveKey])] });
  });
}

/**
 * If an export fails after its crawl, the cause may be what it reused, such as objects that someone deleted in the
 * store. The next export doesn't reuse the same crawl, so a damaged one can't fail all later exports.
 */
async function forbidReuseAfterFailure({ db }: EndDeps, job: ExportJobRow): Promise<void> {
  if (job.status !== 'failed' || job.cancelRequestedAt !== null) return;
  const crawl = await getCrawl(db, job.id);
  if (crawl?.phase === 'frozen' && crawl.baseJobId !== null) await forbidReuse(db, crawl.baseJobId);
}
