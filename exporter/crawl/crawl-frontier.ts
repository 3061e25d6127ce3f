import type { FoundUrl, Lease, LeasedUrl, SettledUrl, SpentCounts, Visited } from '../crawl-records.ts';
import type { ExportLimits } from '../limits.ts';
import type { CrawlStore } from '../ports.ts';
import type { SegmentStore } from '../store/segment-store.ts';
import type { CrawlScope } from './crawl-scope.ts';
import { createStrongestUses, type StoredUrls } from './report-urls.ts';
import { applyEvent, beginSchedule, type CrawlEvent, decide, onlyBodiesArrive, type Schedule } from './schedule.ts';
import { type GatheredBytes, gatherBytes, placeFiles, unplacedBytes } from './store-visits.ts';
import type { OnBody } from './visit.ts';

export type CrawlRest = {
  /** Nothing is left to crawl, here or at any other worker. */
  done: boolean;
  queuedCount: number;
};

/** Long enough for most origins to start a response and to finish all but large ones. */
const GRACE_MS = 5_000;

/** Thrown when the crawl ended while the worker was busy: it was cancelled or frozen. */
export class CrawlOver extends Error {
  override readonly name = 'CrawlOver';
}

type Options = {
  jobId: string;
  token: string;
  scope: CrawlScope;
  /** Call `onBody` when the response's body starts to arrive, and again when it is complete. */
  visit: (leased: LeasedUrl, onBody: OnBody) => Promise<Visited>;
  stored: StoredUrls;
  /** Whether to store the links of each page, for a later export that reuses this one. */
  keepsLinks: boolean;
  /** Called after each report with what the export has spent. If it throws, the crawl ends. */
  onSpent?: (spent: SpentCounts) => void;
  signal: AbortSignal;
  maxMs: number;
  /** How long pending requests may continue when the time is up; then their URLs are released. */
  graceMs?: number;
  /** The time in milliseconds. */
  now?: () => number;
};

type Group = { visits: Visited[]; bytes: GatheredBytes };

/** One worker's crawl: `schedule` decides, `work` is what runs meanwhile. A failure in it ends the loop. */
type Crawl = Options & {
  store: CrawlStore;
  segments: SegmentStore;
  lease: Lease;
  nowMs: () => number;
  work: BackgroundWork;
  schedule: Schedule;
  group: Group;
};

/**
 * Works on a job's frontier until nothing is left or the time is up. The caller then aborts pending requests and
 * releases the remaining leases. Results are settled in groups while fetching goes on, and the same statement leases
 * some of the URLs found, so the origin never waits for us.
 */
export async function crawlFrontier(
  deps: { store: CrawlStore; segments: SegmentStore; limits: ExportLimits },
  options: Options,
): Promise<CrawlRest> {
  const { store, segments, limits } = deps;
  const { jobId, token, signal, maxMs, graceMs = GRACE_MS, now: nowMs = Date.now } = options;
  const work = createBackgroundWork(signal);
  const { maxConcurrency } = limits;
  const extraMs = Math.max(maxMs, limits.activityMs);
  const crawl: Crawl = {
    ...options,
    store,
    segments,
    lease: { jobId, token, leaseMs: limits.leaseMs },
    nowMs,
    work,
    schedule: beginSchedule({ maxConcurrency, extraMs, graceMs }, nowMs() + maxMs),
    group: beginGroup(segments),
  };
  try {
    return await carryOutDecisions(crawl);
  } finally {
    await work.written();
  }
}

async function carryOutDecisions(crawl: Crawl): Promise<CrawlRest> {
  const { work, store, jobId } = crawl;
  while (true) {
    crawl.signal.throwIfAborted();
    work.throwIfFailed();
    const { decision, state } = decide(crawl.schedule, crawl.nowMs());
    crawl.schedule = state;
    switch (decision.type) {
      case 'settle':
        work.write(settleGroup(crawl, decision));
        break;
      case 'lease':
        work.write(leaseUrls(crawl, decision.limit));
        break;
      case 'wait':
        await work.nextEvent(decision.waitMs);
        break;
      case 'poll':
        await work.nextEvent(decision.waitMs);
        // URLs may have become due, or others found or released some.
        if (!crawl.signal.aborted && onlyBodiesArrive(crawl.schedule)) {
          await store.releaseEndedLeases(jobId);
          apply(crawl, { type: 'polled' });
        }
        break;
      case 'readRest':
        apply(crawl, { type: 'restRead', rest: await store.frontierRest(jobId) });
        break;
      case 'end':
        return { done: decision.done, queuedCount: decision.queuedCount };
    }
  }
}

function apply(crawl: Crawl, event: CrawlEvent): void {
  crawl.schedule = applyEvent(crawl.schedule, event);
}

function beginGroup(segments: SegmentStore): Group {
  return { visits: [], bytes: gatherBytes(segments.buffers) };
}

async function leaseUrls(crawl: Crawl, limit: number): Promise<void> {
  const leased = await crawl.store.leaseUrls({ ...crawl.lease, limit });
  apply(crawl, { type: 'leased', limit, count: leased.length });
  startVisits(crawl, leased);
}

function startVisits(crawl: Crawl, urls: readonly LeasedUrl[]): void {
  for (const leased of urls) crawl.work.run(visitUrl(crawl, leased));
}

async function visitUrl(crawl: Crawl, leased: LeasedUrl): Promise<void> {
  const { id } = leased;
  const response = await crawl.visit(leased, (isArriving) =>
    apply(crawl, isArriving ? { type: 'bodyStarted', id } : { type: 'bodyEnded', id, nowMs: crawl.nowMs() }),
  );
  // Only now is it known which group the result belongs to.
  const visited = crawl.group.bytes.keep(response);
  crawl.group.visits.push(visited);
  apply(crawl, { type: 'visited', id, bytes: unplacedBytes(visited.result), nowMs: crawl.nowMs() });
}

async function settleGroup(
  crawl: Crawl,
  { maxTaken, linksFirst }: { maxTaken: number; linksFirst: boolean },
): Promise<void> {
  const { visits, bytes } = crawl.group;
  crawl.group = beginGroup(crawl.segments);
  const found = listFound(crawl, visits);
  for (const each of found.filter(({ skip }) => skip === null).slice(0, maxTaken)) each.take = true;
  // Report URLs before results: if the worker dies in between, another one visits the pages again.
  const early = linksFirst && found.length > 0 ? report(crawl, [], found) : undefined;
  if (early !== undefined) crawl.work.write(early);
  const place = async (): Promise<SettledUrl[]> => {
    const settled = await placeFiles(crawl.segments, crawl.jobId, visits, crawl);
    bytes.giveBack();
    await early;
    return settled;
  };
  await report(crawl, place(), early === undefined ? found : []);
  apply(crawl, { type: 'groupSettled' });
}

/** What these visits found that the frontier may not have yet. */
function listFound({ scope, stored }: Crawl, visits: readonly Visited[]): FoundUrl[] {
  const uses = createStrongestUses();
  for (const { leased, resources } of visits) {
    for (const resource of resources) {
      const found = stored.has(resource) ? undefined : scope.admit(resource, leased);
      if (found !== undefined && !stored.hasFound(found)) uses.add(found);
    }
  }
  return uses.list();
}

/** Reports results and the URLs they link to in one transaction, and visits the URLs leased with it. */
async function report(
  crawl: Crawl,
  settled: readonly SettledUrl[] | Promise<SettledUrl[]>,
  found: FoundUrl[],
): Promise<void> {
  const count = found.filter(({ take }) => take).length;
  apply(crawl, { type: 'reportSent', count });
  const reported = await crawl.store.settleUrls({ ...crawl.lease, settled: await settled, found });
  if (reported === undefined) throw new CrawlOver('the crawl is over');
  const { taken, urlCount, settledCount } = reported;
  crawl.stored.add(found);
  crawl.scope.setUrlCount(urlCount);
  crawl.onSpent?.(reported);
  apply(crawl, { type: 'reportEnded', count, takenCount: taken.length, urlCount, settledCount });
  startVisits(crawl, taken);
}

/** Work that runs beside a loop, while the loop waits for events. */
type BackgroundWork = {
  /** Runs work in the background; its end wakes the loop, also if it fails. */
  run(work: Promise<void>): void;
  /**
   * Does the same as `run` for work that must end before the loop does: a cancelled export is cleaned up right after
   * it.
   */
  write(work: Promise<void>): void;
  /** Throws the error of the first work that failed. */
  throwIfFailed(): void;
  /** Waits until some work ends or the signal fires, for at most this long. */
  nextEvent(waitMs: number): Promise<void>;
  /** Waits until all writes have ended, also those that failed. */
  written(): Promise<void>;
};

function createBackgroundWork(signal: AbortSignal): BackgroundWork {
  let failure: { error: unknown } | undefined;
  let wake = (): void => undefined;
  const writes = new Set<Promise<void>>();
  // One listener for all waits: one for each would cost more than its timer.
  signal.addEventListener('abort', () => wake(), { once: true });

  function run(work: Promise<void>): void {
    work.then(
      () => wake(),
      (error: unknown) => {
        failure ??= { error };
        wake();
      },
    );
  }

  return {
    run,
    write(work) {
      writes.add(work);
      run(work.finally(() => writes.delete(work)));
    },
    throwIfFailed() {
      if (failure !== undefined) throw failure.error;
    },
    nextEvent: (waitMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    async written() {
      await Promise.allSettled(writes);
    },
  };
}
