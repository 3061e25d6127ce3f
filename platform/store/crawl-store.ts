import { WORK_FOLDER } from '../../exporter/object-keys.ts';
import type { CrawlStore } from '../../exporter/ports.ts';
import { crawledPages, storedResponse } from './crawl-answers.ts';
import {
  batchProgress,
  brokenOfBatches,
  leaseBatches,
  releaseBatches,
  renewBatches,
  settleBatch,
  settledBatches,
} from './crawl-batches.ts';
import { addNotices, listNotices } from './crawl-notices.ts';
import { getCrawl, openCrawl } from './crawls.ts';
import type { Database } from './database.ts';
import { completeExportJob } from './export-job-transitions.ts';
import { getExportJob } from './export-jobs.ts';
import { freezeAsDecided, pathsLikeSiblings } from './freeze-crawl.ts';
import { countPages, frontierRest, settleUrls } from './frontier.ts';
import {
  leaseNamedUrls,
  leaseUrls,
  releaseEndedLeases,
  releaseLeases,
  releaseUnrequested,
  renewLeases,
} from './frontier-leases.ts';
import { batchFiles, mappedRedirects, mappedUrls, reportedUrls } from './frontier-map.ts';
import { queryVariants } from './frontier-queries.ts';
import { countSkips, skipsByReason } from './frontier-skips.ts';
import { fetchedFiles, forbidReuse } from './kept-crawls.ts';
import { changedUrls, countReused, keepArchiveHead, keptBatches, keptFiles } from './kept-pieces.ts';
import { claimRevalidation, settleUnchanged, untriedUrls } from './unchanged-urls.ts';

/** Matches the keys of all segments (`segmentKey`), for SQL's LIKE. */
const SEGMENTS_PATTERN = `${WORK_FOLDER}%/segments/%`;

/** The state of exports in PostgreSQL: any number of workers share it. */
export function createCrawlStore(db: Database): CrawlStore {
  return {
    openCrawl: (crawl) => openCrawl(db, crawl),
    getCrawl: (jobId) => getCrawl(db, jobId),
    forbidReuse: (jobId) => forbidReuse(db, jobId),
    leaseUrls: (lease) => leaseUrls(db, lease),
    leaseNamedUrls: (lease) => leaseNamedUrls(db, lease),
    renewLeases: (lease) => renewLeases(db, lease),
    releaseLeases: (jobId, tokens) => releaseLeases(db, jobId, tokens),
    releaseEndedLeases: (jobId) => releaseEndedLeases(db, jobId),
    releaseUnrequested: (held) => releaseUnrequested(db, held),
    settleUrls: (report) => settleUrls(db, report),
    frontierRest: (jobId) => frontierRest(db, jobId),
    countPages: (jobId) => countPages(db, jobId),
    queryVariants: (jobId) => queryVariants(db, jobId),
    countSkips: (jobId) => countSkips(db, jobId),
    addNotices: (notices) => addNotices(db, notices),
    storedResponse: (jobId, url) => storedResponse(db, jobId, url),
    crawledPages: (jobId, limit) => crawledPages(db, jobId, limit),
    claimRevalidation: (jobId) => claimRevalidation(db, jobId),
    untriedUrls: (jobId, limit) => untriedUrls(db, jobId, limit),
    settleUnchanged: (found) => settleUnchanged(db, found),
    fetchedFiles: (jobId, urls) => fetchedFiles(db, jobId, urls),
    async archiveOf(jobId) {
      const job = await getExportJob(db, jobId);
      if (job === undefined || job.archiveKey === null || job.archiveSizeBytes === null) return undefined;
      return { objectKey: job.archiveKey, sizeBytes: job.archiveSizeBytes };
    },
    keptBatches: (jobId) => keptBatches(db, jobId),
    keptFiles: (jobId, batch) => keptFiles(db, jobId, batch),
    changedUrls: (crawls) => changedUrls(db, crawls),
    countReused: (jobId, ownPrefix) => countReused(db, jobId, ownPrefix),
    freeze: (jobId, decide) => freezeAsDecided(db, jobId, decide),
    leaseBatches: (lease) => leaseBatches(db, lease),
    renewBatches: (lease) => renewBatches(db, lease),
    releaseBatches: (jobId, tokens) => releaseBatches(db, jobId, tokens),
    settleBatch: (result) => settleBatch(db, result),
    batchProgress: (jobId) => batchProgress(db, jobId),
    batchFiles: (jobId, batch) => batchFiles(db, jobId, batch),
    mappedUrls: (jobId, urls) => mappedUrls(db, jobId, urls),
    pathsLikeSiblings: (jobId) => pathsLikeSiblings(db, jobId),
    settledBatches: (jobId) => settledBatches(db, jobId),
    mappedRedirects: (jobId) => mappedRedirects(db, jobId),
    brokenOfBatches: (jobId) => brokenOfBatches(db, jobId),
    reportedUrls: (select) => reportedUrls(db, select),
    skipsByReason: (jobId, maxExamples) => skipsByReason(db, jobId, maxExamples),
    listNotices: (jobId) => listNotices(db, jobId),
    async completeExport(jobId, { headBytes, ...result }) {
      const job = await completeExportJob(db, jobId, result);
      const { archiveKey } = result;
      // A worker that dies before this is called again, and completing the job a second time changes nothing.
      const isReusable = await keepArchiveHead(db, jobId, { archiveKey, headBytes, segments: SEGMENTS_PATTERN });
      return { state: job?.status === 'completed' ? 'completed' : 'cancelled', isReusable };
    },
  };
}
