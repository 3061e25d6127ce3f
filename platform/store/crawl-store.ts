import type { CrawlStore } from '../../exporter/ports.ts';
import { batchProgress, leaseBatches, settleBatch, settledBatches } from './crawl-batches.ts';
import { addNotices, crawlFindings } from './crawl-report.ts';
import { getCrawl, openCrawl } from './crawls.ts';
import type { Database } from './database.ts';
import { completeExportJob } from './export-job-transitions.ts';
import { getExportJob } from './export-jobs.ts';
import { freezeAsDecided, pathsMatching } from './freeze-crawl.ts';
import { countPages, crawledPages, frontierRest, scopeCounts, settleUrls, storedResponse } from './frontier.ts';
import { leaseUrls, releaseEndedLeases, releaseLeases, renewLeases } from './frontier-leases.ts';
import { batchFiles, mappedRedirects, mappedUrls } from './frontier-map.ts';
import { fetchedFiles, forbidReuse } from './kept-crawls.ts';
import { changedUrls, keepArchiveHead, keptBatches } from './kept-pieces.ts';
import { claimRevalidation, settleUnchanged } from './unchanged-urls.ts';

/** The state of exports in PostgreSQL: any number of workers share it. */
export function createCrawlStore(db: Database): CrawlStore {
  return {
    openCrawl: (crawl) => openCrawl(db, crawl),
    getCrawl: (jobId) => getCrawl(db, jobId),
    forbidReuse: (jobId) => forbidReuse(db, jobId),
    leaseUrls: (lease) => leaseUrls(db, lease),
    renewLeases: (lease) => renewLeases(db, lease),
    releaseLeases: (jobId, tokens) => releaseLeases(db, jobId, tokens),
    releaseEndedLeases: (jobId) => releaseEndedLeases(db, jobId),
    settleUrls: (report) => settleUrls(db, report),
    frontierRest: (jobId) => frontierRest(db, jobId),
    countPages: (jobId) => countPages(db, jobId),
    scopeCounts: (jobId) => scopeCounts(db, jobId),
    addNotices: (notices) => addNotices(db, notices),
    storedResponse: (jobId, url) => storedResponse(db, jobId, url),
    crawledPages: (jobId, limit) => crawledPages(db, jobId, limit),
    claimRevalidation: (jobId, limit) => claimRevalidation(db, jobId, limit),
    settleUnchanged: (found) => settleUnchanged(db, found),
    fetchedFiles: (jobId, urls) => fetchedFiles(db, jobId, urls),
    async archiveOf(jobId) {
      const job = await getExportJob(db, jobId);
      if (job === undefined || job.archiveKey === null || job.archiveSizeBytes === null) return undefined;
      return { objectKey: job.archiveKey, sizeBytes: job.archiveSizeBytes, batches: keptBatches(db, jobId) };
    },
    changedUrls: (crawls) => changedUrls(db, crawls),
    freeze: (jobId, decide) => freezeAsDecided(db, jobId, decide),
    leaseBatches: (lease) => leaseBatches(db, lease),
    settleBatch: (result) => settleBatch(db, result),
    batchProgress: (jobId) => batchProgress(db, jobId),
    batchFiles: (jobId, batch) => batchFiles(db, jobId, batch),
    mappedUrls: (jobId, urls) => mappedUrls(db, jobId, urls),
    pathsMatching: (jobId, pattern) => pathsMatching(db, jobId, pattern),
    settledBatches: (jobId, number) => settledBatches(db, jobId, number),
    mappedRedirects: (jobId) => mappedRedirects(db, jobId),
    crawlFindings: (select) => crawlFindings(db, select),
    async completeExport(jobId, { headBytes, ...result }) {
      const job = await completeExportJob(db, jobId, result);
      const { archiveKey } = result;
      // A worker that dies before this is called again, and completing the job a second time changes nothing.
      const isReusable = await keepArchiveHead(db, jobId, { archiveKey, headBytes });
      return { state: job?.status === 'completed' ? 'completed' : 'cancelled', isReusable };
    },
  };
}
