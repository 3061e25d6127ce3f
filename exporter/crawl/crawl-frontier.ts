import { setTimeout as sleep } from 'node:timers/promises';
import type { FoundUrl, LeasedUrl, SettledUrl, SpentCounts } from '../crawl-records.ts';
import type { ExportLimits } from '../limits.ts';
import type { CrawlStore } from '../ports.ts';
import type { SegmentStore } from '../segments/segment-store.ts';
import { createBackgroundWork } from './background-work.ts';
import type { CrawlScope } from './crawl-scope.ts';
import { gatherBytes } from './gathered-bytes.ts';
import { beginRound } from './round.ts';
import { placeFiles, unplacedBytes } from './segment.ts';
import type { StoredUrls } from './stored-urls.ts';
import { createStrongestUses } from './strongest-uses.ts';
import type { OnBody } from './visit.ts';
import type { Visited } from './visited.ts';

export type CrawlRest = {
  /** Nothing is left to crawl, here or at any other worker. */
  done: boolean;
  queuedCount: number;
};

const GROUP_RESULTS = 64;
const GROUP_BYTES = 4 * 1024 * 1024;
/** The longest that a result waits to be settled with others: usually, and when there is little to request. */
const GROUP_WAIT_MS = 60;
const HUNGRY_WAIT_MS = 10;
/** Groups that are stored and settled while fetching goes on. */
const MAX_SETTLING = 3;
/** How often an idle worker checks whether others found URLs: at first, and at most. */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 250;

/** Thrown when the crawl ended while the worker was busy: it was cancelled or frozen. */
export class CrawlOver extends Error {
  override readonly name = 'CrawlOver';
}

/**
 * Works on a job's frontier until nothing is left or the time is up. The caller then aborts pending requests and
 * releases the remaining leases. Results are settled in groups while fetching goes on, and the same statement leases
 * some of the URLs found, so the origin never waits for us.
 */
export async function crawlFrontier(
  deps: { store: CrawlStore; segments: SegmentStore; limits: ExportLimits },
  options: {
    jobId: string;
    token: string;
    scope: CrawlScope;
    /** Call `onBody` when the response's body starts to arrive, and again when it is complete. */
    visit: (leased: LeasedUrl, onBody: OnBody) => Promise<Visited>;
    stored: StoredUrls;
    /** Called after each report with what the export has spent. If it throws, the crawl ends. */
    onSpent?: (spent: SpentCounts) => void;
    signal: AbortSignal;
    maxMs: number;
    /** How long pending requests may continue when the time is up; then their URLs are released. */
    graceMs?: number;
    /** The time in milliseconds. */
    now?: () => number;
  },
): Promise<CrawlRest> {
  const { store, segments, limits } = deps;
  const { jobId, token, scope, signal, now = Date.now } = options;
  const lease = { jobId, token, leaseMs: limits.leaseMs };
  const wanted = 2 * limits.maxConcurrency;
  const { maxMs, graceMs } = options;
  const round = beginRound({ maxMs, extraMs: Math.max(maxMs, limits.activityMs), graceMs, now });

  let runningCount = 0;
  let settlingCount = 0;
  let askedCount = 0;
  let leasing = false;
  let group: Visited[] = [];
  let gathered = gatherBytes(segments.buffers);
  let groupBytes = 0;
  let groupSince = 0;
  let mayHaveMore = true;
  let pollMs = FIRST_POLL_MS;
  const work = createBackgroundWork();

  function start(urls: readonly LeasedUrl[]): void {
    runningCount += urls.length;
    if (urls.length > 0) pollMs = FIRST_POLL_MS;
    for (const leased of urls) work.run(visitOne(leased));
  }

  async function visitOne(leased: LeasedUrl): Promise<void> {
    try {
      const answered = await options.visit(leased, (isComing) => {
        if (isComing) round.bodyBegins(leased.id);
        else round.bodyEnds(leased.id);
      });
      // Only now is it known which group the result belongs to.
      const visited = gathered.keep(answered);
      if (group.length === 0) groupSince = now();
      group.push(visited);
      groupBytes += unplacedBytes(visited.result);
    } finally {
      runningCount -= 1;
      round.bodyEnds(leased.id);
    }
  }

  function groupIsDue(): boolean {
    if (group.length === 0 || settlingCount >= MAX_SETTLING) return false;
    const waitedLong = now() - groupSince >= (isHungry() ? HUNGRY_WAIT_MS : GROUP_WAIT_MS);
    // An almost empty frontier needs the URLs of this group now.
    const needed = runningCount === 0 || (settlingCount === 0 && runningCount <= group.length);
    return needed || waitedLong || group.length >= GROUP_RESULTS || groupBytes >= GROUP_BYTES;
  }

  /** Whether the origin may accept more requests than are queued here: then new URLs don't wait for the disk. */
  function isHungry(): boolean {
    return runningCount + askedCount < limits.maxConcurrency;
  }

  function roomCount(): number {
    return round.takesOn() ? Math.max(0, wanted - runningCount - askedCount) : 0;
  }

  function takeFound(visits: readonly Visited[]): FoundUrl[] {
    const uses = createStrongestUses();
    for (const { leased, resources } of visits) {
      for (const resource of resources) {
        const found = options.stored.has(resource) ? undefined : scope.admit(resource, leased);
        if (found !== undefined && !options.stored.hasFound(found)) uses.add(found);
      }
    }
    const found = uses.list();
    for (const each of found.filter(({ skip }) => skip === null).slice(0, roomCount())) each.take = true;
    return found;
  }

  async function settleGroup(): Promise<void> {
    const settling = group;
    const settlingBytes = gathered;
    group = [];
    groupBytes = 0;
    gathered = gatherBytes(segments.buffers);
    settlingCount += 1;
    const found = takeFound(settling);
    // Report URLs before results: if the worker dies in between, another one visits the pages again.
    const early = found.length > 0 && isHungry() ? report([], found) : undefined;
    if (early !== undefined) work.write(early);
    const place = async (): Promise<SettledUrl[]> => {
      const settled = await placeFiles(segments, jobId, settling);
      settlingBytes.giveBack();
      await early;
      return settled;
    };
    try {
      await report(place(), early === undefined ? found : []);
    } finally {
      settlingCount -= 1;
    }
  }

  /** Reports results and the URLs they link to in one transaction, and visits the URLs leased with it. */
  async function report(settled: readonly SettledUrl[] | Promise<SettledUrl[]>, found: FoundUrl[]): Promise<void> {
    const asked = found.filter(({ take }) => take).length;
    askedCount += asked;
    try {
      const answer = await store.settleUrls({ ...lease, settled: await settled, found });
      if (answer === undefined) throw new CrawlOver('the crawl is over');
      options.stored.add(found);
      scope.setUrlCount(answer.urlCount);
      options.onSpent?.(answer);
      start(answer.taken);
      // Other workers' URLs count too; an unneeded query costs a millisecond.
      if (answer.urlCount - answer.settledCount > runningCount + group.length) mayHaveMore = true;
    } finally {
      askedCount -= asked;
    }
  }

  async function leaseMore(): Promise<void> {
    leasing = true;
    const limit = roomCount();
    askedCount += limit;
    try {
      const leased = await store.leaseUrls({ ...lease, limit });
      mayHaveMore = leased.length === limit;
      start(leased);
    } finally {
      askedCount -= limit;
      leasing = false;
    }
  }

  /** Whether only bodies are pending, which may take hours. */
  function onlyBodiesCome(): boolean {
    return runningCount === round.comingCount() && settlingCount === 0 && group.length === 0 && !leasing;
  }

  function nextEvent(): Promise<void> {
    return work.nextEvent(group.length > 0 && isHungry() ? HUNGRY_WAIT_MS : GROUP_WAIT_MS);
  }

  /** Meanwhile URLs may become due, or be found or released by others. */
  async function pollWhileBodiesCome(): Promise<void> {
    await work.nextEvent(pollMs);
    if (!onlyBodiesCome()) return;
    pollMs = Math.min(MAX_POLL_MS, pollMs * 2);
    await store.releaseEndedLeases(jobId);
    mayHaveMore = true;
  }

  async function crawl(): Promise<CrawlRest> {
    while (true) {
      signal.throwIfAborted();
      work.throwIfFailed();
      const isBusy = runningCount + settlingCount > 0 || leasing;
      if (groupIsDue()) {
        work.write(settleGroup());
      } else if (mayHaveMore && !leasing && roomCount() >= wanted / 4) {
        work.write(leaseMore());
      } else if (isBusy) {
        // The origin is slow or asked for a pause: another activity continues from here, and the attempts are kept.
        if (settlingCount === 0 && group.length === 0 && round.isOver())
          return { done: false, queuedCount: runningCount };
        if (onlyBodiesCome()) await pollWhileBodiesCome();
        else await nextEvent();
      } else {
        const rest = await store.frontierRest(jobId);
        const done = rest.queuedCount === 0 && !rest.leased;
        if (done || !round.takesOn()) return { done, queuedCount: rest.queuedCount };
        if (rest.dueInMs !== 0) {
          await sleep(Math.min(rest.dueInMs ?? pollMs, pollMs), undefined, { signal });
          pollMs = Math.min(MAX_POLL_MS, pollMs * 2);
          await store.releaseEndedLeases(jobId);
        }
        mayHaveMore = true;
      }
    }
  }

  try {
    return await crawl();
  } finally {
    await work.written();
  }
}
