import type { KeptBatch, NewCrawl } from '../crawl-records.ts';
import type { CrawlStore } from '../ports.ts';
import {
  batchProgress,
  freezeCrawl,
  leaseBatches,
  releaseBatches,
  renewBatches,
  settleBatch,
  settledBatches,
} from './batches.ts';
import * as frontier from './frontier.ts';
import * as lists from './lists.ts';
import { inChunks, type MemoryCrawl, newMemoryCrawl } from './memory-crawl.ts';
import type { Spill } from './spill.ts';

/** Keeps the report readable. */
const MAX_NOTICES = 2_000;

type State = {
  spill: Spill;
  /** The crawls by job id, the newest last. */
  crawls: Map<string, MemoryCrawl>;
  /** A job's crawl; an empty one that is over if there is none. */
  of(jobId: string): MemoryCrawl;
  /** The same, once no call is deciding about the crawl's end. */
  unlocked(jobId: string): Promise<MemoryCrawl>;
};

export type MemoryCrawlStore = CrawlStore & {
  /** A job's crawl, to be saved for an export in another process. */
  crawlOf(jobId: string): MemoryCrawl | undefined;
};

/**
 * The state of exports in the memory of one process; what is bulky and rarely read is in the spill. A call changes
 * everything at once, because it doesn't wait in between.
 */
export function createMemoryCrawlStore({
  spill,
  previous = [],
}: {
  spill: Spill;
  /** Crawls of earlier exports that the next one may reuse. Their places are in the same spill. */
  previous?: readonly MemoryCrawl[];
}): MemoryCrawlStore {
  const crawls = new Map(previous.map((crawl) => [crawl.record.jobId, crawl]));
  const of: State['of'] = (jobId) => crawls.get(jobId) ?? noCrawl(jobId);
  const unlocked: State['unlocked'] = async (jobId) => {
    while (of(jobId).freezing !== undefined) await of(jobId).freezing;
    return of(jobId);
  };
  const state: State = { spill, crawls, of, unlocked };
  const crawlOf: MemoryCrawlStore['crawlOf'] = (jobId) => crawls.get(jobId);
  return {
    crawlOf,
    ...ofCrawls(state),
    ...ofFrontier(state),
    ...ofReuse(state),
    ...ofBatches(state),
  };
}

function noCrawl(jobId: string): MemoryCrawl {
  const crawl = newMemoryCrawl({ jobId, projectId: '', settingsJson: '{}', reuseKey: '', keep: false }, null);
  crawl.record.phase = 'frozen';
  return crawl;
}

function ofCrawls({ crawls, of, unlocked, spill }: State) {
  function baseOf({ projectId, reuseKey, takes }: NewCrawl): string | null {
    if (!takes) return null;
    const completed = [...crawls.values()].filter((crawl) => crawl.projectId === projectId && crawl.archive !== null);
    const record = completed.at(-1)?.record;
    const isReusable = record?.keep === true && record.archiveHeadBytes !== null && record.reuseKey === reuseKey;
    return isReusable ? record.jobId : null;
  }

  return {
    async openCrawl(crawl) {
      const opened = crawls.get(crawl.jobId) ?? newMemoryCrawl(crawl, baseOf(crawl));
      crawls.set(crawl.jobId, opened);
      return { ...opened.record };
    },
    async getCrawl(jobId) {
      const record = crawls.get(jobId)?.record;
      return record && { ...record };
    },
    async forbidReuse(jobId) {
      of(jobId).record.keep = false;
    },
    async freeze(jobId, decide) {
      const crawl = await unlocked(jobId);
      if (crawl.record.phase !== 'crawling') return;
      // Locked before `decide` is called.
      const freezing = Promise.resolve().then(() => freezeCrawl(crawl, spill, decide, Date.now()));
      crawl.freezing = freezing.catch(() => undefined);
      await freezing.finally(() => {
        crawl.freezing = undefined;
      });
    },
    async completeExport(jobId, { archiveKey, archiveSizeBytes, headBytes }) {
      const crawl = of(jobId);
      crawl.archive ??= { objectKey: archiveKey, sizeBytes: archiveSizeBytes };
      const isReusable = crawl.record.keep && crawl.archive.objectKey === archiveKey;
      if (isReusable) crawl.record.archiveHeadBytes = headBytes;
      return { state: 'completed', isReusable };
    },
  } satisfies Partial<CrawlStore>;
}

function ofFrontier({ of, unlocked, spill }: State) {
  return {
    async leaseUrls(lease) {
      return frontier.leaseUrls(of(lease.jobId), lease, Date.now());
    },
    async renewLeases(lease) {
      const crawl = of(lease.jobId);
      frontier.renewLeases(crawl, lease, Date.now());
      renewBatches(crawl, lease, Date.now());
    },
    async releaseLeases(jobId, tokens) {
      const crawl = await unlocked(jobId);
      frontier.release(crawl, ({ leaseToken }) => tokens.includes(leaseToken ?? ''));
      releaseBatches(crawl, tokens);
    },
    async releaseEndedLeases(jobId) {
      frontier.release(await unlocked(jobId), ({ leaseUntilMs }) => leaseUntilMs < Date.now());
    },
    async settleUrls(report) {
      const crawl = await unlocked(report.jobId);
      return crawl.record.phase === 'crawling' ? frontier.settleUrls(crawl, spill, report, Date.now()) : undefined;
    },
    async addNotices({ jobId, url, texts }) {
      const { record, notices } = await unlocked(jobId);
      if (record.phase !== 'crawling' || notices.length >= MAX_NOTICES) return;
      notices.push(...texts.map((text) => ({ url, text })));
    },
    frontierRest: async (jobId) => frontier.frontierRest(of(jobId), Date.now()),
    countPages: async (jobId) => lists.countPages(of(jobId)),
    scopeCounts: async (jobId) => lists.scopeCounts(of(jobId)),
    async storedResponse(jobId, url) {
      const row = of(jobId).rows.get(url);
      return row && lists.storedResponse(row, spill);
    },
    crawledPages: async (jobId, limit) => lists.crawledPages(of(jobId), limit),
  } satisfies Partial<CrawlStore>;
}

function ofReuse({ of, unlocked, spill }: State) {
  return {
    async claimRevalidation(jobId, limit) {
      const crawl = of(jobId);
      if (crawl.record.phase !== 'crawling' || crawl.record.revalidated) return undefined;
      crawl.record.revalidated = true;
      return lists.untriedUrls(crawl, limit);
    },
    async settleUnchanged(found) {
      const crawl = await unlocked(found.jobId);
      if (crawl.record.phase !== 'crawling') return 'over';
      if (crawl.record.baseJobId !== found.baseJobId) return 'restarted';
      frontier.settleUnchanged(crawl, of(found.baseJobId), spill, found);
      return 'settled';
    },
    async *fetchedFiles(jobId, urls) {
      yield* inChunks(lists.fetchedFiles(of(jobId), spill, urls));
    },
    async archiveOf(jobId) {
      const { archive } = of(jobId);
      return archive === null ? undefined : { ...archive, batches: keptBatches(of(jobId), spill) };
    },
    async changedUrls({ jobId, baseJobId, limit }) {
      const urls = new Set<string>();
      for (const url of lists.changedUrls(of(jobId), of(baseJobId))) if (urls.add(url).size > limit) return undefined;
      return urls;
    },
  } satisfies Partial<CrawlStore>;
}

async function* keptBatches(crawl: MemoryCrawl, spill: Spill): AsyncGenerator<KeptBatch> {
  for (const { number, sizeBytes, piecesJson } of settledBatches(crawl, spill)) yield { number, sizeBytes, piecesJson };
}

function ofBatches({ of, spill }: State) {
  return {
    leaseBatches: async (lease) => leaseBatches(of(lease.jobId), lease, Date.now()),
    settleBatch: async (result) => settleBatch(of(result.jobId), spill, result),
    batchProgress: async (jobId) => batchProgress(of(jobId), Date.now()),
    batchFiles: async (jobId, batch) => [...lists.batchFiles(of(jobId), spill, batch)],
    async *mappedUrls(jobId, urls) {
      yield* inChunks(lists.mappedUrls(of(jobId), urls));
    },
    pathsMatching: async (jobId, pattern) => lists.pathsMatching(of(jobId), pattern),
    async *settledBatches(jobId, number) {
      yield* settledBatches(of(jobId), spill, number);
    },
    async *mappedRedirects(jobId) {
      yield* inChunks(lists.mappedRedirects(of(jobId)));
    },
    crawlFindings: async (select) => lists.crawlFindings(of(select.jobId), spill, select),
  } satisfies Partial<CrawlStore>;
}
